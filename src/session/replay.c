#include "session/replay.h"

#include "base/alloc.h"
#include "base/error.h"
#include "session/registry.h"
#include "session/walk.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* Bytes that are compared, and let go, at a time. */
#define PIECE ((size_t)1 << 20)

/* A file that is made again. Without `against` it is kept in memory (recovery writes it whole: some
 * 100 bytes a sample); else it is compared piece by piece. */
typedef struct made {
    mrd__derived_bytes made;
    const mrd__open_file *against;
    mrd__buf window;
    uint64_t at; /* bytes compared */
    bool differs;
    uint64_t offset; /* of the first byte that differs */
} made;

typedef struct making {
    mrd__engine *engine;
    made domain, metrics, report;
    uint64_t records;
} making;

static size_t common(const char *a, const char *b, size_t size)
{
    size_t at = 0;
    if (memcmp(a, b, size) == 0) return size;
    while (a[at] == b[at])
        at++;
    return at;
}

static mrd_status compare_piece(made *m, mrd_error *error)
{
    const mrd__open_file *file = m->against;
    mrd__buf *bytes = &m->made.bytes;
    size_t got = 0;
    if (bytes->size == 0) return MRD_OK;
    mrd__buf_clear(&m->window);
    mrd__buf_reserve(&m->window, bytes->size);
    MRD__TRY(mrd__files_pread(file->files, file->fd, m->at, m->window.data, bytes->size, &got,
                              file->path, error));
    size_t same = common(bytes->data, m->window.data, got);
    if (!m->differs && same < bytes->size) {
        m->differs = true;
        m->offset = m->at + same;
    }
    m->at += bytes->size;
    mrd__buf_clear(bytes);
    return MRD_OK;
}

static mrd_status put(void *ctx, mrd__file_kind kind, unsigned type, uint64_t sequence,
                      mrd__str payload, mrd_error *error)
{
    making *m = ctx;
    made *file = kind == MRD__FILE_DOMAIN ? &m->domain : &m->metrics;
    mrd__derived_bytes_add(&file->made, type, sequence, &payload, 1);
    bool full = file->against != NULL && file->made.bytes.size >= PIECE;
    return full ? compare_piece(file, error) : MRD_OK;
}

static mrd_status take(void *ctx, const mrd__record *record, mrd_error *error)
{
    making *m = ctx;
    m->records++;
    return mrd__engine_take(m->engine, record, error);
}

static void making_reset(making *m)
{
    made *const files[] = {&m->domain, &m->metrics, &m->report};
    mrd__engine_destroy(&m->engine);
    for (size_t i = 0; i < 3; i++) {
        mrd__buf_reset(&files[i]->made.bytes);
        mrd__buf_reset(&files[i]->window);
    }
}

mrd_status mrd__session_check_definitions(const mrd__stored *stored, mrd_error *error)
{
    mrd__str identity = mrd__stored_identity(stored);
    json_t *root = json_loadb(identity.data, identity.size, 0, NULL);
    const json_t *value = json_object_get(root, "definitions");
    mrd_status status = mrd__registry_check(
        mrd__str_of(json_is_string(value) ? json_string_value(value) : "none told"), error);
    json_decref(root);
    return status != MRD_OK ? mrd__fail_at(error, status, mrd__stored_dir(stored), -1) : MRD_OK;
}

/* The three files of what stored holds. */
static mrd_status make(making *m, mrd__stored *stored, mrd__damage *torn, mrd_error *error)
{
    const uint8_t *uuid = mrd__stored_uuid(stored);
    mrd__engine_sink sink = {.ctx = m, .derived = put};
    MRD__TRY(mrd__session_check_definitions(stored, error));
    m->engine = mrd__engine_create(&sink);
    mrd__derived_bytes_begin(&m->domain.made, MRD__FILE_DOMAIN, uuid);
    mrd__derived_bytes_begin(&m->metrics.made, MRD__FILE_METRICS, uuid);
    MRD__TRY(mrd__stored_read(stored, take, m, torn, error));
    mrd__session_report_json(mrd__engine_report(m->engine), &m->report.made.bytes);
    return MRD_OK;
}

static const char *const names[] = {"domain.mrl", "metrics.mrl", "report.json"};

static mrd_status compare_all(making *m, mrd__stored *stored, mrd__replay_result *result,
                              mrd_error *error)
{
    made *const files[] = {&m->domain, &m->metrics, &m->report};
    MRD__TRY(make(m, stored, NULL, error));
    for (size_t i = 0; i < 3; i++)
        MRD__TRY(compare_piece(files[i], error));
    result->equal = true;
    for (size_t i = 3; i-- > 0;) { /* the first file that differs is told */
        const made *file = files[i];
        if (!file->differs && file->against->size == file->at) continue;
        result->equal = false;
        result->offset = file->differs ? file->offset : file->at;
        result->stored_size = file->against->size;
        result->made_size = file->at;
        snprintf(result->file, sizeof result->file, "%s", names[i]);
    }
    mrd__engine_counts counts = mrd__engine_counted(m->engine);
    result->records = m->records;
    result->samples = counts.samples;
    result->events = counts.events;
    return MRD_OK;
}

static mrd_status replay(mrd__stored *stored, mrd__replay_result *result, mrd_error *error)
{
    making m = {0};
    made *const files[] = {&m.domain, &m.metrics, &m.report};
    mrd__open_file open[3];
    size_t count = 0;
    mrd_status status = MRD_OK;
    while (status == MRD_OK && count < 3) {
        status = mrd__open_file_begin(&open[count], stored, names[count], error);
        files[count]->against = &open[count];
        count += status == MRD_OK;
    }
    if (status == MRD_OK) status = compare_all(&m, stored, result, error);
    while (count > 0)
        mrd__open_file_end(&open[--count]);
    making_reset(&m);
    return status;
}

mrd_status mrd__session_replay(const char *dir, const mrd__files *files, mrd__replay_result *result,
                               mrd_error *error)
{
    *result = (mrd__replay_result){0};
    mrd__stored *stored;
    MRD__TRY(mrd__stored_open(dir, files, &stored, error));
    mrd_status status = replay(stored, result, error);
    mrd__stored_close(&stored);
    return status;
}

mrd_status mrd__session_rederive(void *ctx, mrd__recovery *recovery, mrd__stored *stored,
                                 mrd__buf *facts, mrd_error *error)
{
    (void)ctx;
    making m = {0};
    mrd__damage torn;
    mrd_status status = make(&m, stored, &torn, error);
    size_t types;
    const char *const *domain = mrd__engine_types(MRD__FILE_DOMAIN, &types);
    mrd__recovery_names(recovery, MRD__FILE_DOMAIN, domain, types);
    const char *const *metrics = mrd__engine_types(MRD__FILE_METRICS, &types);
    mrd__recovery_names(recovery, MRD__FILE_METRICS, metrics, types);
    const mrd__buf *const files[] = {&m.domain.made.bytes, &m.metrics.made.bytes,
                                     &m.report.made.bytes};
    for (size_t i = 0; status == MRD_OK && i < 3; i++)
        status = mrd__recovery_file(recovery, names[i], (mrd__str){files[i]->data, files[i]->size},
                                    error);
    if (status == MRD_OK) mrd__engine_facts(m.engine, facts);
    making_reset(&m);
    return status;
}
