/* A recorded session as a trace: a process a source, a counter track a metric, frames, launch
 * phases, what has no number and why. Times are the host's monotonic clock.
 *
 *   metrics.mrl  samples ──▶ counters, gaps          (series.c)
 *                frame times, launch spans ─┐
 *   domain.mrl   frames, phases: when ──────┴──▶ slices   (events.c)
 *   metrics-manifest.json  gaps ──▶ instants
 */
#include "base/error.h"
#include "base/json.h"
#include "ingest/session/inside.h"
#include "ingest/session/session.h"

#include <string.h>

/* ---- Facts ---- */

uint32_t mrd__session_string(mrd__session_read *r, mrd__str text)
{
    if (text.size == 0) return 0;
#ifndef MRD_PLANTED_BUGS /* the fuzzer of sessions as traces must find texts that are no UTF-8 */
    if (mrd__utf8_valid(text))
#endif
        return mrd__shard_string(r->shard, text.data, text.size, r->records);
    mrd__buf mended = {0};
    mrd__utf8_repair(&mended, text);
    mrd__shard_loss(r->shard, MRD__LOSS_INVALID_UTF8, 0, 1, -1, mended.data, mended.size);
    uint32_t id = mrd__shard_string(r->shard, mended.data, mended.size, r->records);
    mrd__buf_reset(&mended);
    return id;
}

uint32_t mrd__session_process(mrd__session_read *r, uint32_t source)
{
    mrd__session_source *own = &r->sources.data[source];
    if (own->process != MRD__NONE) return own->process;
    mrd__ident ident = {.kind = MRD__IDENT_TEXT, .text = own->name};
    own->process = mrd__shard_thread(r->shard, ident, (mrd__ident){0});
    mrd__fact *fact = mrd__shard_push(r->shard);
    fact->phase = MRD__PROCESS_NAME;
    fact->thread = own->process;
    fact->name = own->name;
    return own->process;
}

uint32_t mrd__session_source_of(mrd__session_read *r, mrd__str name)
{
    uint32_t id = mrd__session_string(r, name);
    while (r->source_of.count <= id)
        mrd__vec_push(&r->source_of, 0);
    if (r->source_of.data[id] != 0) return r->source_of.data[id] - 1;
    mrd__session_source own = {.name = id,
                               .process = MRD__NONE,
                               .launch = MRD__NONE,
                               .state = MRD__NONE,
                               .clock = MRD__NONE};
    mrd__vec_push(&r->sources, own);
    r->source_of.data[id] = (uint32_t)r->sources.count;
    return (uint32_t)r->sources.count - 1;
}

uint32_t mrd__session_track(mrd__session_read *r, uint32_t process, uint32_t parent, uint32_t name,
                            uint32_t unit)
{
    uint32_t track = mrd__shard_track(r->shard);
    mrd__track_spec *spec = mrd__shard_track_spec(r->shard, track);
    spec->owner = process;
    spec->parent = parent;
    spec->name = name;
    spec->unit = unit;
    return track;
}

uint32_t mrd__session_state_track(mrd__session_read *r, uint32_t number)
{
    mrd__session_source *source = &r->sources.data[number];
    if (source->state != MRD__NONE) return source->state;
    uint32_t name = mrd__session_string(r, MRD__STR("state"));
    source->state = mrd__session_track(r, mrd__session_process(r, number), MRD__NONE, name, 0);
    return source->state;
}

mrd__fact *mrd__session_push(mrd__session_read *r, mrd__phase phase, char letter, uint32_t track,
                             int64_t ts)
{
    mrd__shard_count(r->shard, (unsigned char)letter);
    mrd__fact *fact = mrd__shard_push(r->shard);
    fact->phase = phase;
    fact->thread = track;
    fact->ts = ts;
    r->rows++;
    return fact;
}

uint64_t mrd__session_keep_args(mrd__session_read *r)
{
    return mrd__shard_own_args(r->shard, r->text.data, r->text.size);
}

void mrd__session_args(mrd__fact *fact, uint64_t place)
{
    fact->args = place & 0xffffffffffffu;
    fact->flags = MRD__ARGS_OWNED;
}

void mrd__session_damaged(mrd__session_read *r, const char *file, uint64_t offset, const char *what)
{
    mrd__buf_clear(&r->text);
    mrd__buf_printf(&r->text, "%s: %s", file, what);
    mrd__shard_loss(r->shard, MRD__LOSS_DAMAGED_SESSION, 0, 1, (int64_t)offset, r->text.data,
                    r->text.size);
}

/* ---- Record files ---- */

typedef mrd_status (*record_fn)(mrd__session_read *r, const mrd__record *record, mrd_error *error);

static mrd_status progress(mrd__session_read *r, mrd_error *error)
{
    mrd__import *in = r->in;
    if (++r->records % MRD__SESSION_CHUNK != 0) return MRD_OK;
    mrd__shard_chunk(r->shard, r->records / MRD__SESSION_CHUNK);
    if (in->progress == NULL || in->progress(in->progress_ctx, in->path, 0, 0)) return MRD_OK;
    return mrd__fail(error, MRD_ERR_CANCELLED, "cancelled", "cancelled");
}

/* All records before the first that is damaged, which is counted. */
static mrd_status read_records(mrd__session_read *r, mrd__file_kind kind, const char *file,
                               uint64_t size, record_fn record, mrd_error *error)
{
    mrd__reader reader;
    mrd__record got;
    mrd_error why = {0};
    mrd_status status = MRD_OK;
    mrd__read_step step;
    mrd__reader_memory(&reader, r->maps[kind].data, size);
    step = mrd__reader_head(&reader, error);
    if (step == MRD__STEP_RECORD &&
        (reader.head.kind != kind ||
         memcmp(reader.head.uuid, r->documents.uuid_bytes, sizeof reader.head.uuid) != 0))
        status =
            mrd__fail(error, MRD_ERR_FORMAT, "bad_session", "a file of another session or kind");
    while (status == MRD_OK &&
           (step = mrd__reader_next(&reader, &got, error)) == MRD__STEP_RECORD) {
        if (record(r, &got, &why) != MRD_OK) {
            mrd__session_damaged(r, file, got.offset, why.message);
            break;
        }
        status = progress(r, error);
    }
    if (step == MRD__STEP_BAD) mrd__session_damaged(r, file, reader.bad.from, reader.bad.what);
    mrd__reader_reset(&reader);
    return status;
}

static mrd_status read_kind(mrd__session_read *r, mrd__file_kind kind, const char *file,
                            record_fn record, mrd_error *error)
{
    const mrd__session_file *entry = &r->documents.files[kind];
    mrd__buf path = {0};
    mrd_error why = {0};
    if (!entry->listed) {
        mrd__session_damaged(r, file, 0, "the manifest has no such file");
        return MRD_OK;
    }
    mrd__buf_printf(&path, "%s/%s", r->folder, file);
    mrd_status status = mrd__map_open(&r->maps[kind], path.data, &why);
    if (status != MRD_OK) {
        mrd__session_damaged(r, file, 0, why.message);
        status = MRD_OK;
    } else {
        uint64_t size = r->maps[kind].size;
        if (entry->stale) mrd__session_damaged(r, file, 0, "as a crash left it");
        if (size > entry->bytes) size = entry->bytes;
        if (r->maps[kind].size != entry->bytes)
            mrd__session_damaged(r, file, size, "its size is not that of the manifest");
        status = read_records(r, kind, file, size, record, error);
        if (status != MRD_OK) (void)mrd__fail_at(error, status, path.data, -1);
    }
    mrd__buf_reset(&path);
    return status;
}

/* ---- The session ---- */

static void tell(mrd__session_read *r, mrd__str key, mrd__str value, mrd__json_type type)
{
    if (value.size > 0) mrd__shard_metadata(r->shard, key, value, (uint8_t)type);
}

static void tell_metadata(mrd__session_read *r)
{
    const mrd__session_documents *d = &r->documents;
    tell(r, MRD__STR("session.id"), (mrd__str){d->uuid.data, d->uuid.size}, MRD__JSON_STRING);
    tell(r, MRD__STR("session.state"), (mrd__str){d->state.data, d->state.size}, MRD__JSON_STRING);
    if (d->reasons.size > 2) tell(r, MRD__STR("session.reasons"), d->reasons, MRD__JSON_STRING);
    tell(r, MRD__STR("session.target"), d->target, MRD__JSON_STRING);
    const struct {
        mrd__str key;
        int64_t value;
    } counts[] = {{MRD__STR("session.gaps"), d->gap_count},
                  {MRD__STR("session.decode_errors"), d->decode_errors}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        mrd__buf_clear(&r->text);
        mrd__buf_int(&r->text, counts[i].value);
        tell(r, counts[i].key, (mrd__str){r->text.data, r->text.size}, MRD__JSON_NUMBER);
    }
}

/* Lines that were printed elsewhere have a monotonic clock, but not the one of this boot. */
static void tell_clocks(mrd__session_read *r, uint32_t file)
{
    const mrd__session_documents *d = &r->documents;
    mrd__file_clock clock = {.id = 3}; /* MONOTONIC */
    mrd__writer_clock(r->in->writer, file, clock);
    mrd__shard_clock(r->shard, clock);
    mrd__writer_file(r->in->writer, file)->clock = mrd__clock_name(clock.id);
    if (d->ingested) return;
    if (d->boot_id.size > 0) mrd__writer_boot(r->in->writer, file, d->boot_id.data);
    mrd__machine_facts facts = {
        .name = d->host_name.size > 0 ? d->host_name.data : NULL,
        .release = d->kernel.size > 0 ? d->kernel.data : NULL,
        .arch = d->arch.size > 0 ? d->arch.data : NULL,
        .num_cpus = d->cores > 0 && d->cores <= UINT32_MAX ? (uint32_t)d->cores : 0};
    mrd__writer_machine(r->in->writer, file, 0, &facts);
    if (!mrd__session_clocks_known(d)) return;
    mrd__clock_reading readings[] = {{{.id = 3}, d->monotonic_ns, 1},
                                     {{.id = 6}, d->boottime_ns, 1},
                                     {{.id = 1}, d->realtime_ns, 1}};
    mrd__shard_snapshot(r->shard, readings, 3);
}

static mrd_status read_session(mrd__session_read *r, mrd_error *error)
{
    mrd__import *in = r->in;
    uint32_t file = mrd__writer_add_file(in->writer, in->path, mrd__importer_session.name,
                                         r->documents.manifest.size, NULL);
    r->shard = mrd__writer_shard(in->writer, file);
    mrd__shard_chunk(r->shard, 0);
    tell_clocks(r, file);
    if (r->documents.mended > 0)
        mrd__shard_loss(r->shard, MRD__LOSS_INVALID_UTF8, 0, r->documents.mended, -1, NULL, 0);
    tell_metadata(r);
    MRD__TRY(read_kind(r, MRD__FILE_METRICS, "metrics.mrl", mrd__session_metric, error));
    MRD__TRY(read_kind(r, MRD__FILE_DOMAIN, "domain.mrl", mrd__session_event, error));
    mrd__session_events_end(r);
    if (r->timeless > 0)
        mrd__shard_loss(r->shard, MRD__LOSS_MISSING_TIMESTAMP, 0, r->timeless, -1, NULL, 0);
    return MRD_OK;
}

static void reset(mrd__session_read *r)
{
    for (size_t i = 0; i < r->sources.count; i++)
        mrd__buf_reset(&r->sources.data[i].silent);
    for (int kind = 0; kind <= MRD__FILE_METRICS; kind++)
        mrd__map_close(&r->maps[kind]);
    mrd__session_documents_reset(&r->documents);
    mrd__metrics_reader_reset(&r->metrics);
    mrd__vec_reset(&r->source_of);
    mrd__vec_reset(&r->sources);
    mrd__vec_reset(&r->series);
    mrd__vec_reset(&r->notes);
    mrd__vec_reset(&r->clocks);
    mrd__vec_reset(&r->origins);
    mrd__vec_reset(&r->spans);
    mrd__buf_reset(&r->text);
}

/* The manifest is canonical JSON: members in order, no spaces; session.json is the first file that
 * it lists. session.json itself stands for a folder that has no manifest yet. */
static bool sniff(const char *head, size_t size)
{
    static const char first[] = "\"kind\":\"document\",\"path\":\"session.json\"";
    static const char format[] = "\"format\":\"meridian-session\"";
    static const char trace[] = "\"traceEvents\"";
    if (size < 2 || head[0] != '{' || head[1] != '"') return false;
    if (memmem(head, size, trace, sizeof trace - 1) != NULL) return false;
    return memmem(head, size, first, sizeof first - 1) != NULL ||
           memmem(head, size, format, sizeof format - 1) != NULL;
}

/* Empty where there is none. */
static mrd__str manifest_beside(const char *folder, mrd__buf *own)
{
    mrd__buf path = {0};
    mrd__buf_printf(&path, "%s/metrics-manifest.json", folder);
    if (mrd__file_read(own, path.data, MRD__SESSION_MANIFEST_MAX, NULL) != MRD_OK)
        mrd__buf_clear(own);
    mrd__buf_reset(&path);
    return (mrd__str){own->data, own->size};
}

static mrd_status read_file(mrd__import *in, mrd_error *error)
{
    if (in->data_path != NULL)
        return mrd__fail(error, MRD_ERR_UNSUPPORTED, "bad_session",
                         "a session inside an archive is not read: unpack it");
    const char *slash = strrchr(in->path, '/');
    char *folder = slash == NULL       ? mrd__strndup(".", 1)
                   : slash == in->path ? mrd__strndup("/", 1)
                                       : mrd__strndup(in->path, (size_t)(slash - in->path));
    mrd__session_read *r = mrd__new(mrd__session_read);
    r->in = in;
    r->folder = folder;
    r->gaps_track = MRD__NONE;
    mrd__str manifest = {0};
    mrd__buf own = {0};
    if (in->map != NULL) manifest = (mrd__str){in->map->data, in->map->size};
    if (mrd__str_is(mrd__str_of(slash != NULL ? slash + 1 : in->path), "session.json"))
        manifest = manifest_beside(folder, &own);
    mrd_status status = mrd__session_documents_read(&r->documents, folder, manifest, error);
    if (status == MRD_OK) status = read_session(r, error);
    reset(r);
    mrd__free(r);
    mrd__free(folder);
    mrd__buf_reset(&own);
    return status;
}

const mrd__importer mrd__importer_session = {
    .name = "session",
    .what = "Meridian session (its metrics-manifest.json)",
    .priority = 37,
    .by_path = true,
    .sniff = sniff,
    .read = read_file,
};
