#include "made.h"

#include "session/entry.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {"event", "sample", "frame"};

static void must(mrd_status status, const mrd_error *error)
{
    if (status != MRD_OK) fail_msg("%s: %s", error->code, error->message);
}

static void record(made *m, mrd__recording *recording, bool scarred)
{
    mrd_error error = {0};
    mrd__derived *domain;
    mrd__derived *metrics;
    must(mrd__recording_derive(recording, MRD__FILE_DOMAIN, names, 3, &domain, &error), &error);
    must(mrd__recording_derive(recording, MRD__FILE_METRICS, names, 3, &metrics, &error), &error);
    for (uint64_t i = 1; i <= m->records; i++) {
        must(kit_append(recording, &error), &error);
        uint8_t payload[KIT_PAYLOAD];
        mrd__str part = {(const char *)payload, kit_payload(i + 9999, payload)};
        must(mrd__derived_append(domain, MRD__RECORD_DERIVED, i, &part, 1, &error), &error);
        must(mrd__derived_append(metrics, MRD__RECORD_DERIVED + 1 + i % 2, i, &part, 1, &error),
             &error);
        if (i % 16 == 0) must(mrd__recording_drain(recording, &error), &error);
        m->d.fail_truncate = scarred && i > m->records / 2;
        if (scarred && i % 50 == 0) m->d.fail_sync = true;
    }
    m->d.fail_sync = false;
    mrd__str report = MRD__STR("{\"format\":\"report\",\"metrics\":[1,2,3]}");
    must(mrd__recording_file(recording, "report.json", report, &error), &error);
    must(mrd__recording_drain(recording, &error), &error);
}

/* Where the records of a record file stand. */
static void add_file(made *m, const char *name, uint64_t *sequence, uint64_t *records)
{
    made_file file = {0};
    snprintf(file.path, sizeof file.path, "%s/%s", m->dir, name);
    const mrd__buf *bytes = disk_file(&m->d, file.path);
    assert_non_null(bytes);
    m->bytes += bytes->size;
    if (strstr(name, ".mrl") != NULL) {
        mrd__reader reader;
        mrd__record got;
        bool raw = strncmp(name, "raw/", 4) == 0;
        mrd__reader_memory(&reader, bytes->data, bytes->size);
        if (raw) mrd__reader_follow(&reader, *sequence, *records);
        mrd__vec_push(&file.newest, reader.sequence);
        while (mrd__reader_next(&reader, &got, NULL) == MRD__STEP_RECORD) {
            mrd__vec_push(&file.edges, got.offset);
            mrd__vec_push(&file.newest, reader.sequence);
            if (got.flags & MRD__FLAG_SYNCED) file.synced = got.offset;
        }
        mrd__vec_push(&file.edges, reader.at);
        if (raw) *sequence = reader.sequence;
        if (raw) *records = reader.records;
    }
    mrd__vec_push(&m->files, file);
}

static void list_files(made *m)
{
    static const char *const others[] = {"domain.mrl",   "metrics.mrl",           "report.json",
                                         "session.json", "metrics-manifest.json", "seal.json"};
    uint64_t sequence = 0;
    uint64_t records = 0;
    for (m->segments = 0;; m->segments++) {
        char name[32];
        char path[64];
        snprintf(name, sizeof name, "raw/%06zu.mrl", m->segments + 1);
        snprintf(path, sizeof path, "%s/%s", m->dir, name);
        if (disk_file(&m->d, path) == NULL) break;
        add_file(m, name, &sequence, &records);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", m->dir, others[i]);
        if (disk_file(&m->d, path) != NULL) add_file(m, others[i], &sequence, &records);
    }
    for (size_t i = 0; i < m->files.count; i++)
        m->files.data[i].name = m->files.data[i].path + strlen(m->dir) + 1;
}

void made_begin(made *m, made_how how, uint64_t records, uint64_t seed)
{
    *m = (made){.records = records};
    disk_begin(&m->d);
    uint8_t uuid[16] = "0123456789abcde";
    memcpy(uuid, &seed, sizeof seed);
    mrd__recording_options options = {.dir = "/s",
                                      .uuid = uuid,
                                      .identity = "{\"target\":{\"pid\":7,\"name\":\"app\"}}",
                                      .files = &m->d.files,
                                      .no_thread = true,
                                      .segment_bytes = records * 32,
                                      .checkpoint_records = 40};
    mrd__recording *recording;
    mrd_error error = {0};
    must(mrd__recording_create(&options, &recording, &error), &error);
    record(m, recording, how == MADE_SCARRED);
    if (how != MADE_OPEN) {
        mrd__finish end = {.end_event = MRD__STR("{\"event\":\"end\"}"),
                           .facts = "{\"registry\":\"r1\",\"sources\":[{\"id\":\"a\",\"ok\":3}]}"};
        must(mrd__recording_finish(recording, &end, &error), &error);
    }
    mrd__recording_destroy(&recording);
    snprintf(m->dir, sizeof m->dir, "%s", how == MADE_OPEN ? "/s.open" : "/s");
    list_files(m);
    assert_true(m->segments >= 3);
}

void made_end(made *m)
{
    for (size_t i = 0; i < m->files.count; i++) {
        mrd__vec_reset(&m->files.data[i].edges);
        mrd__vec_reset(&m->files.data[i].newest);
    }
    mrd__vec_reset(&m->files);
    disk_end(&m->d);
}

mrd__buf *made_bytes(made *m, const made_file *file)
{
    mrd__buf *bytes = disk_file(&m->d, file->path);
    assert_non_null(bytes);
    return bytes;
}

const made_file *made_place(made *m, mrd__rng *rng, uint64_t *offset)
{
    uint64_t at = mrd__rng_below(rng, m->bytes);
    size_t i = 0;
    while (at >= made_bytes(m, &m->files.data[i])->size)
        at -= made_bytes(m, &m->files.data[i++])->size;
    *offset = at;
    return &m->files.data[i];
}

size_t made_record_at(const made_file *file, uint64_t offset)
{
    for (size_t i = 0; i + 1 < file->edges.count; i++)
        if (offset >= file->edges.data[i] && offset < file->edges.data[i + 1]) return i;
    return SIZE_MAX;
}
