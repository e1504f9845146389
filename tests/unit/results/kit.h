/* Shared by the tests of the result store: a folder with a store, on either engine. */
#ifndef MRD_TESTS_RESULTS_KIT_H
#define MRD_TESTS_RESULTS_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "results/internal.h"

#define OK(x) assert_int_equal((x), MRD_OK)

typedef struct fixture {
    char folder[64], trace[96];
    mrd__results *results;
} fixture;

/* URL of the PostgreSQL at hand, or NULL while SQLite is tested. */
extern const char *kit_url;

int kit_setup(void **state);
int kit_teardown(void **state);
/* Close and open again. */
void kit_reopen(fixture *f);
/* Run the tests on SQLite, then on a throw-away PostgreSQL where there is one (else said). */
int kit_run_on_both(const struct CMUnitTest *tests, size_t count);

int64_t kit_add(fixture *f, const char *experiment, const char *algorithm, const char *size);
/* The row as JSON; free it. */
char *kit_show(fixture *f, int64_t id);
/* First number of a question. */
int64_t kit_number(fixture *f, const char *sql);

#endif
