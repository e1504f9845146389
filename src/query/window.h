/* A window over plain tracks as asked for: parsed, defaults filled, tracks chosen. Internal to
 * slice_*.c. */
#ifndef MRD_QUERY_WINDOW_H
#define MRD_QUERY_WINDOW_H

#include "model/store.h"
#include "query/params.h"
#include "query/table.h"
#include "query/words.h"

/* Cells of one aggregated answer: 4,096 buckets of 2,048 rows, half a gigabyte of body. More than a
 * screen shows; bounds the memory of a request. */
#define MRD__MAX_WINDOW_CELLS (8u << 20)

typedef struct mrd__window {
    const mrd__store *store;
    double start, end; /* relative ns */
    bool end_inside;   /* end was not given: what is exactly there belongs to the window */
    uint32_t buckets;  /* 0: raw */
    bool absolute;     /* times of JSON and CSV rows are absolute integers */
    mrd_format format;
    MRD__VEC(uint32_t) tracks; /* ids, ascending, of plain tracks only */
} mrd__window;

/* Owns tracks, also after a failure. */
MRD_MUST_CHECK mrd_status mrd__window_init(mrd__window *window, const mrd__store *store,
                                           const mrd_params *params, bool absolute,
                                           mrd_format format, mrd_error *error);
void mrd__window_reset(mrd__window *window);

/* A track whose facts lie in slices, instants or counters of the store (not in event records). */
bool mrd__window_is_plain(const mrd__track *track);
/* mrd_format ARROW is relative always. */
bool mrd__window_prints_absolute(const mrd__window *window);

/* Opens the table of an answer with its metadata and JSON head. */
void mrd__window_table(const mrd__window *window, mrd__table *table, const mrd__arrow_field *fields,
                       size_t field_count, const mrd_sink *sink);

MRD_MUST_CHECK mrd_status mrd__window_raw(const mrd__window *window, const mrd_sink *sink,
                                          mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__window_cells(const mrd__window *window, const mrd_sink *sink,
                                            mrd_error *error);

#endif
