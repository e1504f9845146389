/* The result store: experiments, rows of comm_eval_results, and the trace files that belong to
 * them (spec comm-sim.md section 4). SQLite in WAL mode; several processes may use one store. */
#ifndef MRD_RESULTS_RESULTS_H
#define MRD_RESULTS_RESULTS_H

#include "base/error.h"
#include "base/text.h"

#define MRD__RESULTS_SCHEMA 1            /* newest version this program knows */
#define MRD__RESULTS_PAGE_SIZE 50        /* default of page_size */
#define MRD__RESULTS_PAGE_MAX 1000       /* rows of one answer */
#define MRD__RESULTS_FIELD_MAX (1 << 20) /* bytes of one field: per_chip_summary of 1,024 chips */

typedef struct mrd__results mrd__results;

/* One named value from options or a query string, decoded. */
typedef struct mrd__field {
    const char *name;
    mrd__str value;
} mrd__field;

/* Open, make or migrate. store_url NULL: DIR/meridian.db. Codes bad_store, newer_store. */
MRD_MUST_CHECK mrd_status mrd__results_open(const char *data_dir, const char *store_url,
                                            mrd__results **out, mrd_error *error);
void mrd__results_close(mrd__results **results); /* accepts NULL */

/* Add a row for a trace file that was checked before; copies (or links) the file first, so that a
 * row never stands without its file. Codes bad_field, bad_parameter. */
MRD_MUST_CHECK mrd_status mrd__results_add(mrd__results *results, const char *path,
                                           const char *experiment, const mrd__field *fields,
                                           size_t count, bool link, int64_t *id, mrd_error *error);
/* {"results": [...], "total", "page", "page_size"}; filters as in comm-sim.md section 5. Code
 * bad_parameter names what is allowed. TEXT: a table for people. */
MRD_MUST_CHECK mrd_status mrd__results_list(mrd__results *results, const mrd__field *filters,
                                            size_t count, mrd_format format, const mrd_sink *sink,
                                            mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__results_show(mrd__results *results, int64_t id, mrd_format format,
                                            const mrd_sink *sink, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__results_remove(mrd__results *results, int64_t id, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__results_remove_experiment(mrd__results *results, const char *name,
                                                         uint64_t *removed, mrd_error *error);
/* Codes no_such_result, no_trace, trace_file_missing, bad_path (leaves the data folder). */
MRD_MUST_CHECK mrd_status mrd__results_trace_path(mrd__results *results, int64_t id, char *out,
                                                  size_t size, mrd_error *error);

#endif
