/* Plain rows: CSV (RFC 4180, header line) or JSON (one object a line, keys are the columns),
 * written cell by cell in column order through a sink, 64 KiB at a time.
 *
 *   mrd__plain_begin, then per row: one cell call a column, mrd__plain_row; at last
 *   mrd__plain_finish (also after an error).
 *
 * One thread at a time. */
#ifndef MRD_EXPORT_PLAIN_H
#define MRD_EXPORT_PLAIN_H

#include "model/store.h"

#define MRD__PLAIN_FLUSH 65536    /* bytes gathered before they go to the sink */
#define MRD__PLAIN_MAX_COLUMNS 20 /* the widest table has 15 */

typedef struct mrd__plain {
    mrd__buf out, scratch, args;
    bool json;
    size_t columns, at;
    mrd__str prefix[MRD__PLAIN_MAX_COLUMNS]; /* what stands before each cell, own memory */
    const mrd_sink *sink;
} mrd__plain;

/* columns: comma separated names, static. format: CSV or JSON. sink is borrowed until finish. */
void mrd__plain_begin(mrd__plain *plain, const char *columns, mrd_format format,
                      const mrd_sink *sink);
/* Ends a row; every column must have had its cell. Fails as the sink does. */
MRD_MUST_CHECK mrd_status mrd__plain_row(mrd__plain *plain, mrd_error *error);
/* Writes what is left unless status is a failure, frees; returns status or the sink's failure. */
MRD_MUST_CHECK mrd_status mrd__plain_finish(mrd__plain *plain, mrd_status status, mrd_error *error);

/* Cells. Text must be valid UTF-8 or becomes so. */
void mrd__plain_null(mrd__plain *plain);
void mrd__plain_int(mrd__plain *plain, int64_t value);
void mrd__plain_uint(mrd__plain *plain, uint64_t value);
void mrd__plain_double(mrd__plain *plain, double value);
void mrd__plain_text(mrd__plain *plain, mrd__str text);
/* A JSON value that stands as it is in JSON (a number in full, a list); in CSV it is a field. */
void mrd__plain_json(mrd__plain *plain, mrd__str json);

/* The same for what the store names: id 0 is NULL, as is MRD__NONE. */
void mrd__plain_name(mrd__plain *plain, const mrd__store *store, mrd__str_id id);
void mrd__plain_index(mrd__plain *plain, uint32_t index);
/* A pid or tid: whole numbers as numbers, other ids as text, none as NULL. */
void mrd__plain_ident(mrd__plain *plain, const mrd__store *store, mrd__ident ident);
/* pid of a process index, tid of a thread index; MRD__NONE is NULL. */
void mrd__plain_pid(mrd__plain *plain, const mrd__store *store, uint32_t process);
void mrd__plain_tid(mrd__plain *plain, const mrd__store *store, uint32_t thread);
/* Args of a slice or instant as strict compact JSON text; NULL without. */
MRD_MUST_CHECK mrd_status mrd__plain_args(mrd__plain *plain, const mrd__store *store,
                                          mrd__args_ref ref, mrd_error *error);

#endif
