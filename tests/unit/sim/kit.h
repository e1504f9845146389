/* Specs and runs for the tests of the simulator. */
#ifndef MRD_TESTS_UNIT_SIM_KIT_H
#define MRD_TESTS_UNIT_SIM_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/program.h"

/* A spec from JSON with ' for ", printf-formatted. Fails the test when it does not parse. */
mrd__sim_spec spec_of(const char *format, ...) MRD_PRINTF(1, 2);
/* Parse that must fail; the message. */
const char *spec_error(const char *json);

/* Run; fails the test, with the message, when the run fails. */
mrd__sim_result run(const mrd__sim_spec *spec);
/* Run that must fail with this code; the message. */
const char *run_error(const mrd__sim_spec *spec, const char *code);

/* All allowed pairs, for each. */
typedef struct pair {
    int64_t primitive, algorithm;
} pair;
size_t all_pairs(pair *out); /* at most 32 */

/* A counter of the result's stats; fails the test when it is not there. */
double counter(const mrd__sim_result *result, const char *name);

#define NEAR(a, b, tolerance) near_at((a), (b), (tolerance), __FILE__, __LINE__)
void near_at(double got, double want, double tolerance, const char *file, int line);

#endif
