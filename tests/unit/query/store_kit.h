/* Small stores made by hand, cmocka's headers, and CSV answers taken apart. */
#ifndef MRD_TESTS_UNIT_QUERY_STORE_KIT_H
#define MRD_TESTS_UNIT_QUERY_STORE_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/store.h"
#include "query/query.h"

/* ---- Stores ---- */

mrd__store *kit_store(int64_t origin_ns);
void kit_free(mrd__store **store);
mrd__str_id kit_string(mrd__store *store, const char *text);
uint32_t kit_process(mrd__store *store, int64_t pid, const char *name);
uint32_t kit_thread(mrd__store *store, uint32_t process, int64_t tid, const char *name);
/* A track of the kind; facts added next belong to it. */
uint32_t kit_track(mrd__store *store, mrd__track_kind kind, const char *name, uint32_t process,
                   uint32_t thread);
/* A row of the last track; slices added next belong to it, in time order. */
uint32_t kit_row(mrd__store *store, uint16_t depth, uint16_t line);
uint32_t kit_slice(mrd__store *store, double start, double end, const char *name);
uint32_t kit_instant(mrd__store *store, double time, const char *name);
uint32_t kit_sample(mrd__store *store, double time, double value);
/* Args text, for slices.args and instants.args; all of a store's texts in one blob. */
mrd__args_ref kit_args(mrd__store *store, const char *text);
/* A flow between two slices. */
void kit_flow(mrd__store *store, uint32_t from, uint32_t to, const char *name);
/* Bounds, ranks, sums and pyramids; nothing is added after. */
void kit_seal(mrd__store *store);

/* ---- Questions ---- */

/* Parameters from a query string; the caller destroys them. */
mrd_params *kit_params(const char *query);

typedef struct kit_answer {
    mrd_status status;
    mrd_error error;
    mrd__buf text;
    /* CSV taken apart: rows * columns fields, the header left out */
    MRD__VEC(mrd__str) fields;
    size_t columns, rows;
} kit_answer;
/* Makes text of JSON easy to look into: fails when it is not strict JSON. */
void kit_check_json(const mrd__buf *text);
bool kit_holds(const mrd__buf *text, const char *word);
/* Asks mrd__query_window with a query string. CSV answers are taken apart. */
kit_answer kit_ask(const mrd__store *store, const char *query, bool absolute, mrd_format format);
void kit_answer_reset(kit_answer *answer);
mrd__str kit_field(const kit_answer *answer, size_t row, size_t column);
double kit_double(const kit_answer *answer, size_t row, size_t column);
int64_t kit_int(const kit_answer *answer, size_t row, size_t column);

#endif
