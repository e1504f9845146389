/* Event Parquet out: records of a source, through a temporary name. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "events/event_file.h"
#include "events/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ZEROS "00000000000000000000000000000000" /* MRD__LATE_WIDTH of them */

typedef struct writer {
    const mrd__event_source *source;
    double last_ns;
    char end[MRD__LATE_WIDTH + 1], truncated[2];
    mrd__event_record records[MRD__DUCK_BATCH];
} writer;

static mrd_status next_rows(void *ctx, mrd__duck_out *columns, size_t *rows, mrd_error *error)
{
    writer *w = ctx;
    *rows = 0;
    MRD__TRY(w->source->next(w->source->ctx, w->records, MRD__DUCK_BATCH, rows, error));
    for (size_t i = 0; i < *rows; i++) {
        const mrd__event_record *record = &w->records[i];
        mrd__assert(isfinite(record->time_ns) && record->time_ns >= w->last_ns);
        mrd__assert(!isnan(record->value));
        w->last_ns = record->time_ns;
        ((double *)columns[0].data)[i] = record->time_ns;
        mrd__duck_out_borrowed(&columns[1], i, mrd__str_of(mrd__category_name(record->category)));
        mrd__duck_out_borrowed(&columns[2], i, record->component);
        ((double *)columns[3].data)[i] = record->value;
        if (record->detail.data)
            mrd__duck_out_text(&columns[4], i, record->detail);
        else
            mrd__duck_out_null(&columns[4], i);
    }
    return MRD_OK;
}

/* The late values: the end as its shortest text behind zeros. */
static void ask_end(void *ctx)
{
    writer *w = ctx;
    double end = 0;
    bool truncated = false;
    w->source->end(w->source->ctx, &end, &truncated);
    mrd__assert(isfinite(end) && end >= 0);
    mrd__buf text = {0};
    mrd__buf_double(&text, end);
    mrd__assert(text.size <= MRD__LATE_WIDTH);
    memset(w->end, '0', MRD__LATE_WIDTH);
    memcpy(w->end + MRD__LATE_WIDTH - text.size, text.data, text.size + 1);
    mrd__buf_reset(&text);
    w->truncated[0] = truncated ? '1' : '0';
}

mrd_status mrd__event_write(const char *path, const mrd__event_source *source, mrd_error *error)
{
    static const char *const names[] = {"time_ns", "category", "component", "value", "detail_json"};
    static const mrd__duck_type types[] = {MRD__DUCK_DOUBLE, MRD__DUCK_TEXT, MRD__DUCK_TEXT,
                                           MRD__DUCK_DOUBLE, MRD__DUCK_TEXT};
    mrd__assert(source->end || isfinite(source->sim_end_ns));
    writer *w = mrd__new(writer);
    w->source = source;
    w->last_ns = -INFINITY;
    mrd__duck_source rows = {
        .width = 5, .names = names, .types = types, .next = next_rows, .ctx = w};
    mrd__buf end = {0};
    if (source->end)
        mrd__buf_text(&end, ZEROS);
    else
        mrd__buf_double(&end, source->sim_end_ns);
    mrd__duck_kv kv[] = {{"sim_end_ns", {end.data, end.size}},
                         {"producer", MRD__STR("meridian")},
                         {"schema_version", MRD__STR("1")},
                         {"truncated", MRD__STR("0")}};
    mrd__late_value late[] = {{"sim_end_ns", w->end}, {"truncated", w->truncated}};
    mrd__parquet_job job = {.rows = &rows,
                            .kv = kv,
                            .kv_count = source->end ? 4 : 3,
                            .late = late,
                            .late_count = 2,
                            .finish = source->end ? ask_end : NULL,
                            .ctx = w};
    mrd_status status = mrd__parquet_file_write(path, &job, error);
    mrd__buf_reset(&end);
    mrd__free(w);
    return status;
}
