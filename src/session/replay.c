#include "session/replay.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "session/registry.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* domain.mrl and metrics.mrl are made in memory: some 100 bytes a sample, and an hour of 100
 * samples a second has 36 MB. */
typedef struct making {
    mrd__engine *engine;
    mrd__derived_bytes domain, metrics;
    mrd__buf report;
    uint64_t records;
} making;

static mrd_status put(void *ctx, mrd__file_kind kind, unsigned type, uint64_t sequence,
                      mrd__str payload, mrd_error *error)
{
    (void)error;
    making *m = ctx;
    mrd__derived_bytes_add(kind == MRD__FILE_DOMAIN ? &m->domain : &m->metrics, type, sequence,
                           &payload, 1);
    return MRD_OK;
}

static mrd_status take(void *ctx, const mrd__record *record, mrd_error *error)
{
    making *m = ctx;
    m->records++;
    return mrd__engine_take(m->engine, record, error);
}

static void making_reset(making *m)
{
    mrd__engine_destroy(&m->engine);
    mrd__buf_reset(&m->domain.bytes);
    mrd__buf_reset(&m->metrics.bytes);
    mrd__buf_reset(&m->report);
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
    mrd__derived_bytes_begin(&m->domain, MRD__FILE_DOMAIN, uuid);
    mrd__derived_bytes_begin(&m->metrics, MRD__FILE_METRICS, uuid);
    MRD__TRY(mrd__stored_read(stored, take, m, torn, error));
    mrd__session_report_json(mrd__engine_report(m->engine), &m->report);
    return MRD_OK;
}

static mrd_status compare(const mrd__stored *stored, const char *name, const mrd__buf *made,
                          mrd__replay_result *result, mrd_error *error)
{
    if (!result->equal) return MRD_OK;
    char *path = mrd__files_join(mrd__stored_dir(stored), name);
    mrd__buf bytes = {0};
    mrd_status status = mrd__file_read(&bytes, path, SIZE_MAX / 2, error);
    mrd__free(path);
    if (status != MRD_OK) return status;
    size_t common = bytes.size < made->size ? bytes.size : made->size, at = 0;
    while (at < common && bytes.data[at] == made->data[at])
        at++;
    result->equal = bytes.size == made->size && at == common;
    if (!result->equal) {
        snprintf(result->file, sizeof result->file, "%s", name);
        result->offset = at;
        result->stored_size = bytes.size;
        result->made_size = made->size;
    }
    mrd__buf_reset(&bytes);
    return MRD_OK;
}

static mrd_status replay(mrd__stored *stored, mrd__replay_result *result, mrd_error *error)
{
    making m = {0};
    mrd__engine_counts counts = {0};
    mrd_status status = make(&m, stored, NULL, error);
    if (m.engine != NULL) counts = mrd__engine_counted(m.engine);
    result->equal = true;
    result->records = m.records;
    result->samples = counts.samples;
    result->events = counts.events;
    if (status == MRD_OK) status = compare(stored, "domain.mrl", &m.domain.bytes, result, error);
    if (status == MRD_OK) status = compare(stored, "metrics.mrl", &m.metrics.bytes, result, error);
    if (status == MRD_OK) status = compare(stored, "report.json", &m.report, result, error);
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
    size_t names;
    const char *const *domain = mrd__engine_types(MRD__FILE_DOMAIN, &names);
    mrd__recovery_names(recovery, MRD__FILE_DOMAIN, domain, names);
    const char *const *metrics = mrd__engine_types(MRD__FILE_METRICS, &names);
    mrd__recovery_names(recovery, MRD__FILE_METRICS, metrics, names);
    const struct {
        const char *name;
        const mrd__buf *bytes;
    } files[] = {{"domain.mrl", &m.domain.bytes},
                 {"metrics.mrl", &m.metrics.bytes},
                 {"report.json", &m.report}};
    for (size_t i = 0; status == MRD_OK && i < 3; i++)
        status = mrd__recovery_file(recovery, files[i].name,
                                    (mrd__str){files[i].bytes->data, files[i].bytes->size}, error);
    if (status == MRD_OK) mrd__engine_facts(m.engine, facts);
    making_reset(&m);
    return status;
}
