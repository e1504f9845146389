/* The importer's row of the registry: sniffing, and which reader a file gets. */
#include "base/error.h"
#include "ingest/chrome_json/chrome_json.h"
#include "ingest/chrome_json/limits.h"
#include "ingest/chrome_json/parallel.h"
#include "ingest/chrome_json/stream.h"

#include <string.h>

static bool sniff(const char *head, size_t size)
{
    size_t at = size >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < size && mrd__cj_space(head[at]))
        at++;
    if (at == size || (head[at] != '{' && head[at] != '[')) return false;
    bool object = head[at++] == '{';
    while (at < size && mrd__cj_space(head[at]))
        at++;
    if (at == size) return true;
    return object ? head[at] == '"' || head[at] == '}'
                  : head[at] == '{' || head[at] == ']' || head[at] == ',';
}

/* What one file is read with. */
typedef struct reading {
    mrd__import *in;
    uint32_t file;
    mrd__shard *shard; /* of the serial reader */
    mrd__chrome_json_reader *reader;
} reading;

/* Progress of the serial reader: in->map is empty by then. */
typedef struct progress_of {
    const mrd__import *in;
    uint64_t total, reported_ns;
} progress_of;

static bool tick(void *ctx, uint64_t done)
{
    progress_of *progress = ctx;
    uint64_t now = mrd__monotonic_ns();
    if (now - progress->reported_ns < MRD__CJ_PROGRESS_NS) return true;
    progress->reported_ns = now;
    const mrd__import *in = progress->in;
    return in->progress(in->progress_ctx, in->path, done, progress->total);
}

static void begin(reading *job, mrd__cj_reader_options options)
{
    options.fast = true;
    job->shard = options.shard = mrd__writer_shard(job->in->writer, job->file);
    mrd__shard_chunk(job->shard, 0);
    job->reader = mrd__chrome_json_create(&options);
}

/* The events of a mapped file on all threads; the reader then goes on behind them. */
static mrd_status read_events(reading *job, const mrd__map *map, size_t *at, mrd_error *error)
{
    mrd__cj_parallel_options options = {.writer = job->in->writer,
                                        .file = job->file,
                                        .threads = job->in->threads,
                                        .chunk = MRD__CJ_CHUNK,
                                        .first_order = 1,
                                        .progress = job->in->progress,
                                        .progress_ctx = job->in->progress_ctx,
                                        .path = job->in->path,
                                        .map = map};
    mrd__cj_parallel_result result = mrd__cj_read_parallel(&options, map->data, map->size, *at);
    if (result.cancelled) return mrd__fail(error, MRD_ERR_CANCELLED, "cancelled", "cancelled");
    *at = result.at;
    mrd__shard_chunk(job->shard, result.next_order);
    mrd__chrome_json_resume(job->reader, result.closed);
    return mrd__chrome_json_map(job->reader, map->data, map->size, at, error);
}

static mrd_status read_map(reading *job, mrd_error *error)
{
    mrd__import *in = job->in;
    job->file = mrd__writer_add_file(in->writer, in->path, mrd__importer_chrome_json.name,
                                     in->map->size, in->map);
    const mrd__map *map = &mrd__writer_file(in->writer, job->file)->map;
    bool parallel = map->size >= MRD__CJ_PARALLEL_MIN;
    progress_of ctx = {in, map->size, 0};
    begin(job, (mrd__cj_reader_options){.stop_at_events = parallel,
                                        .tick = in->progress != NULL ? tick : NULL,
                                        .tick_ctx = &ctx});
    size_t at = 0;
    MRD__TRY(mrd__chrome_json_map(job->reader, map->data, map->size, &at, error));
    if (mrd__chrome_json_at_events(job->reader)) MRD__TRY(read_events(job, map, &at, error));
    return mrd__chrome_json_finish(job->reader, false, error);
}

/* How the gzip file ended, as losses. True when the text is cut short. */
static bool count_gzip_end(mrd__shard *shard, const mrd__gzip_info *info)
{
    int64_t end = (int64_t)info->inflated;
    if (info->zero_padding > 0)
        mrd__shard_loss(shard, MRD__LOSS_ZERO_PADDING, 0, info->zero_padding, end, NULL, 0);
    if (info->garbage > 0) mrd__shard_loss(shard, MRD__LOSS_TRAILING_DATA, 0, 1, end, NULL, 0);
    return info->end != MRD__GZIP_WHOLE;
}

static mrd_status read_gzip(reading *job, mrd_error *error)
{
    mrd__import *in = job->in;
    job->file = mrd__writer_add_file(in->writer, in->path, mrd__importer_chrome_json.name,
                                     in->map->size, NULL);
    begin(job, (mrd__cj_reader_options){.own_args = true});
    mrd__gzip *gzip = mrd__gzip_create(in->map->data, in->map->size);
    mrd__cj_stream stream = {.gzip = gzip,
                             .reader = job->reader,
                             .threads = in->threads,
                             .piece = MRD__CJ_PIECE,
                             .compressed = in->map->size,
                             .path = in->path,
                             .progress = in->progress,
                             .progress_ctx = in->progress_ctx};
    mrd_status status = mrd__cj_read_stream(&stream, error);
    if (status == MRD_OK) {
        const mrd__gzip_info *info = mrd__gzip_info_of(gzip);
        mrd__writer_file(in->writer, job->file)->gzip_members = info->members;
        bool cut = count_gzip_end(job->shard, info);
        status = mrd__chrome_json_finish(job->reader, cut, error);
    }
    mrd__gzip_destroy(&gzip);
    return status;
}

static mrd_status read_file(mrd__import *in, mrd_error *error)
{
    reading job = {.in = in};
    bool packed = mrd__is_gzip(in->map->data, in->map->size);
    mrd_status status = packed ? read_gzip(&job, error) : read_map(&job, error);
    mrd__chrome_json_destroy(&job.reader);
    return status == MRD_OK ? MRD_OK : mrd__fail_at(error, status, in->path, -1);
}

const mrd__importer mrd__importer_chrome_json = {
    .name = "chrome_json",
    .what = "Chrome Trace Event JSON (array or object form, plain or gzip)",
    .priority = 110,
    .sniff = sniff,
    .read = read_file,
};
