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
    uint64_t rows, bytes;
} reading;

static mrd_status begin(void *ctx, uint64_t rows, mrd_error *error)
{
    reading *r = ctx;
    r->rows = rows;
    return mrd__collect_begin(&r->collect, rows, error);
}

static void add_batch(void *ctx, const mrd__event_batch *batch)
{
    mrd__collect_add(&((reading *)ctx)->collect, batch);
}

/* Rows read as a part of the file's bytes: the decoder does not tell its place in the file. */
static bool tell_progress(void *ctx, uint64_t rows_done)
{
    reading *r = ctx;
    if (!r->in->progress) return true;
    double part = r->rows ? (double)rows_done / (double)r->rows : 1;
    return r->in->progress(r->in->progress_ctx, r->in->path, (uint64_t)((double)r->bytes * part),
                           r->bytes);
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

static void count_inexact(mrd__writer *writer, uint32_t file, uint64_t count)
{
    if (count == 0) return;
    mrd__writer_loss(writer, file, MRD__LOSS_INEXACT_TIME, count, -1,
                     MRD__STR("integer time_ns above 2^53"), 0);
}

static mrd_status read_file(mrd__import *in, mrd_error *error)
{
    reading *r = mrd__new(reading);
    r->in = in;
    r->bytes = in->map ? in->map->size : 0;
    mrd__event_sink sink = {
        .ctx = r, .begin = begin, .batch = add_batch, .progress = tell_progress};
    mrd__event_info info;
    mrd_status status = mrd__event_read(in->data_path != NULL ? in->data_path : in->path,
                                        in->threads, &sink, &info, error);
    if (status == MRD_OK) {
        uint32_t file = mrd__writer_add_file(in->writer, in->path, mrd__importer_event_parquet.name,
                                             r->bytes, NULL);
        mrd__writer_file(in->writer, file)->events = info.rows;
        count_inexact(in->writer, file, r->collect.inexact);
        double last_ns;
        mrd__events *events = mrd__collect_group(&r->collect, &info, in->threads, &last_ns);
        set_end(events, &info, last_ns, in->writer, file);
        mrd__event_info_reset(&info);
        mrd__writer_events(in->writer, file, events);
    }
    mrd__collect_reset(&r->collect);
    mrd__free(r);
    return status;
}

const mrd__importer mrd__importer_event_parquet = {
    .name = "event_parquet",
    .what = "event trace in Parquet",
    .priority = 20,
    .by_path = true,
    .sniff = sniff,
    .read = read_file,
};
