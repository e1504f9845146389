/* Event Parquet in: the file as a whole. */
#include "base/alloc.h"
#include "base/error.h"
#include "duck/duck.h"
#include "events/columns.h"
#include "events/event_file.h"
#include "events/take.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static mrd_status keep_sim_end(void *ctx, mrd__str key, mrd__str value, mrd_error *error)
{
    mrd__event_info *info = ctx;
    if (!mrd__str_is(key, "sim_end_ns")) return MRD_OK;
    if (!mrd__parse_double(value, &info->sim_end_ns)) {
        return mrd__fail(error, MRD_ERR_FORMAT, "bad_trace",
                         "metadata sim_end_ns is '%.*s'; a finite decimal number is needed",
                         (int)(value.size < 80 ? value.size : 80), value.data);
    }
    if (!(info->sim_end_ns >= -MRD__EVENT_TIME_LIMIT && info->sim_end_ns < MRD__EVENT_TIME_LIMIT))
        return mrd__fail(error, MRD_ERR_FORMAT, "bad_trace",
                         "metadata sim_end_ns is '%.*s'; times lie from -2^63 up to below 2^63 ns",
                         (int)(value.size < 80 ? value.size : 80), value.data);
    info->has_sim_end = true;
    return MRD_OK;
}

static bool go_on(void *ctx)
{
    mrd__take *take = ctx;
    return !take->sink->progress || take->sink->progress(take->sink->ctx, take->rows);
}

static mrd_status scan_rows(mrd__duck *duck, mrd__take *take, const char *list, const char *from,
                            mrd_error *error)
{
    mrd__duck_taker taker = {.ctx = take, .take = mrd__take_chunk, .go_on = go_on};
    mrd_status status = mrd__duck_scan(duck, list, from, &taker, error);
    if (take->error_row != UINT64_MAX) {
        if (error) *error = take->error;
        return take->error.status;
    }
    if (status == MRD_OK && take->rows != take->announced) {
        return mrd__fail(error, MRD_ERR_FORMAT, "bad_trace",
                         "the file has %llu rows, its metadata announces %llu",
                         (unsigned long long)take->rows, (unsigned long long)take->announced);
    }
    return status;
}

static mrd_status read_rows(mrd__duck *duck, int fd, const mrd__event_sink *sink,
                            mrd__event_info *info, mrd_error *error)
{
    uint64_t announced = 0;
    mrd__buf list = {0}, from = {0};
    MRD__TRY(mrd__duck_parquet_kv(duck, fd, keep_sim_end, info, error));
    mrd_status status = mrd__event_columns(duck, fd, &list, &from, error);
    if (status == MRD_OK) status = mrd__event_row_count(duck, fd, &announced, error);
    if (status == MRD_OK && sink->begin) status = sink->begin(sink->ctx, announced, error);
    if (status == MRD_OK) {
        mrd__take take;
        mrd__take_init(&take, sink, announced);
        status = scan_rows(duck, &take, list.data, from.data, error);
        info->rows = take.rows;
        info->components = take.components;
        info->component_count = take.component_count;
        take.components = NULL;
        take.component_count = 0;
        mrd__take_reset(&take);
    }
    mrd__buf_reset(&list);
    mrd__buf_reset(&from);
    return status;
}

/* DuckDB's words become ours: what it cannot read is no valid file, and it must name the file that
 * the user gave, not the descriptor. */
static mrd_status explain(mrd_status status, const char *path, int fd, mrd_error *error)
{
    if (!error) return status == MRD_ERR_INTERNAL ? MRD_ERR_FORMAT : status;
    if (status == MRD_ERR_INTERNAL) {
        char name[MRD__DUCK_FD_NAME];
        mrd__duck_fd_name(fd, name);
        mrd__buf text = {0};
        const char *from = error->message, *hit;
        while ((hit = strstr(from, name)) != NULL) {
            mrd__buf_add(&text, from, (size_t)(hit - from));
            mrd__buf_text(&text, path);
            from = hit + strlen(name);
        }
        mrd__buf_text(&text, from);
        status = mrd__fail(error, MRD_ERR_FORMAT, "bad_trace", "not a readable Parquet file: %s",
                           text.data);
        mrd__buf_reset(&text);
    }
    return mrd__fail_at(error, status, path, -1);
}

mrd_status mrd__event_read(const char *path, uint32_t threads, const mrd__event_sink *sink,
                           mrd__event_info *info, mrd_error *error)
{
    memset(info, 0, sizeof *info);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return mrd__fail_errno(error, path, "cannot open");
    mrd__duck *duck = NULL;
    mrd_status status = mrd__duck_open(&duck, threads, error);
    if (status == MRD_OK) {
        status = read_rows(duck, fd, sink, info, error);
        if (status != MRD_OK) status = explain(status, path, fd, error);
    }
    mrd__duck_close(&duck);
    close(fd);
    if (status != MRD_OK) mrd__event_info_reset(info);
    return status;
}

void mrd__event_info_reset(mrd__event_info *info)
{
    for (size_t i = 0; i < info->component_count; i++)
        mrd__free((char *)info->components[i].data);
    mrd__free(info->components);
    memset(info, 0, sizeof *info);
}
