#include "ingest/event_parquet/event_parquet.h"

#include "ingest/event_parquet/collect.h"

#include <string.h>

#define MAGIC "PAR1"

/* Columns are judged when the file is read: they stand at its end. */
static bool sniff(const char *head, size_t size)
{
    return size >= sizeof MAGIC - 1 && memcmp(head, MAGIC, sizeof MAGIC - 1) == 0;
}

typedef struct reading {
    mrd__collect collect;
    mrd__import *in;
    uint64_t bytes;
} reading;

static mrd_status add_batch(void *ctx, const mrd__event_batch *batch, mrd_error *error)
{
    reading *r = ctx;
    MRD__TRY(mrd__collect_add(&r->collect, batch, error));
    if (!r->in->progress) return MRD_OK;
    /* Rows read, as bytes: the decoder does not tell its place in the file. */
    uint64_t done = r->collect.rows;
    if (r->in->progress(r->in->progress_ctx, r->in->path, done < r->bytes ? done : r->bytes,
                        r->bytes))
        return MRD_OK;
    return mrd__fail(error, MRD_ERR_CANCELLED, "cancelled", "opening was cancelled");
}

static void expect(void *ctx, const mrd__event_hint *hint)
{
    mrd__collect_expect(&((reading *)ctx)->collect, hint);
}

/* The simulation end: the larger of the metadata and the last time. */
static void set_end(mrd__events *events, const mrd__event_info *info, double last_ns,
                    mrd__writer *writer, uint32_t file)
{
    if (events->count == 0) {
        events->end_ns = info->has_sim_end ? info->sim_end_ns : 1;
        return;
    }
    events->end_ns = last_ns;
    if (!info->has_sim_end) return;
    if (info->sim_end_ns >= last_ns) {
        events->end_ns = info->sim_end_ns;
        return;
    }
    mrd__buf text = {0};
    mrd__buf_text(&text, "sim_end_ns ");
    mrd__buf_double(&text, info->sim_end_ns);
    mrd__buf_text(&text, ", last event at ");
    mrd__buf_double(&text, last_ns);
    mrd__writer_loss(writer, file, MRD__LOSS_SIM_END_BELOW_LAST, 1, -1,
                     (mrd__str){text.data, text.size}, 0);
    mrd__buf_reset(&text);
}

static mrd_status read_file(mrd__import *in, mrd_error *error)
{
    reading r = {.in = in, .bytes = in->map ? in->map->size : 0};
    mrd__event_sink sink = {.ctx = &r, .begin = expect, .batch = add_batch};
    mrd__event_info info;
    mrd_status status = mrd__event_read(in->path, in->threads, &sink, &info, error);
    if (status != MRD_OK) {
        mrd__collect_reset(&r.collect);
        return mrd__fail_at(error, status, in->path, -1);
    }
    uint32_t file =
        mrd__writer_add_file(in->writer, in->path, mrd__importer_event_parquet.name, r.bytes, NULL);
    mrd__writer_file(in->writer, file)->events = info.rows;
    double last_ns = r.collect.last_ns;
    if (r.collect.inexact) {
        mrd__writer_loss(in->writer, file, MRD__LOSS_INEXACT_TIME, r.collect.inexact, -1,
                         MRD__STR("integer time_ns above 2^53"), 0);
    }
    mrd__events *events = mrd__collect_group(&r.collect, &info, in->threads);
    set_end(events, &info, last_ns, in->writer, file);
    mrd__event_info_reset(&info);
    mrd__writer_events(in->writer, file, events);
    return MRD_OK;
}

const mrd__importer mrd__importer_event_parquet = {
    .name = "event_parquet",
    .what = "event trace in Parquet",
    .priority = 20,
    .sniff = sniff,
    .read = read_file,
};
