/* Event Parquet out: records of a source, through a temporary name. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/os.h"
#include "duck/duck.h"
#include "events/event_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct writer {
    const mrd__event_source *source;
    double last_ns;
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

static mrd_status write_rows(int fd, const mrd__event_source *source, mrd_error *error)
{
    static const char *const names[] = {"time_ns", "category", "component", "value", "detail_json"};
    static const mrd__duck_type types[] = {MRD__DUCK_DOUBLE, MRD__DUCK_TEXT, MRD__DUCK_TEXT,
                                           MRD__DUCK_DOUBLE, MRD__DUCK_TEXT};
    mrd__duck *duck = NULL;
    MRD__TRY(mrd__duck_open(&duck, 0, error));
    writer *w = mrd__new(writer);
    w->source = source;
    w->last_ns = -INFINITY;
    mrd__duck_source rows = {
        .width = 5, .names = names, .types = types, .next = next_rows, .ctx = w};
    mrd__buf end = {0};
    mrd__buf_double(&end, source->sim_end_ns);
    mrd__duck_kv kv[] = {
        {"sim_end_ns", {end.data, end.size}},
        {"producer", MRD__STR("meridian")},
        {"schema_version", MRD__STR("1")},
    };
    mrd_status status = mrd__duck_write_parquet(duck, fd, &rows, kv, sizeof kv / sizeof *kv, error);
    mrd__buf_reset(&end);
    mrd__free(w);
    mrd__duck_close(&duck);
    return status;
}

/* The rename is on disk only when the folder is. */
static mrd_status sync_folder(const char *path, mrd_error *error)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? mrd__strndup(path, (size_t)(slash - path) + 1) : mrd__strndup(".", 1);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    mrd_status status = MRD_OK;
    if (fd < 0 || fsync(fd) != 0) status = mrd__fail_errno(error, folder, "cannot sync the folder");
    if (fd >= 0) close(fd);
    mrd__free(folder);
    return status;
}

static mrd_status finish(int fd, const char *temporary, const char *path, mrd_error *error)
{
    if (fsync(fd) != 0) return mrd__fail_errno(error, path, "cannot sync");
    if (rename(temporary, path) != 0) return mrd__fail_errno(error, path, "cannot rename to");
    return sync_folder(path, error);
}

mrd_status mrd__event_write(const char *path, const mrd__event_source *source, mrd_error *error)
{
    mrd__assert(isfinite(source->sim_end_ns));
    uint64_t random;
    mrd__random_bytes(&random, sizeof random);
    mrd__buf temporary = {0};
    mrd__buf_printf(&temporary, "%s.tmp-%016llx", path, (unsigned long long)random);
    int fd = open(temporary.data, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    mrd_status status = MRD_OK;
    if (fd < 0) {
        status = mrd__fail_errno(error, path, "cannot create");
    } else {
        status = write_rows(fd, source, error);
        if (status == MRD_OK)
            status = finish(fd, temporary.data, path, error);
        else
            status = mrd__fail_at(error, status, path, -1);
        close(fd);
        if (status != MRD_OK) unlink(temporary.data);
    }
    mrd__buf_reset(&temporary);
    return status;
}
