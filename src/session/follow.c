/* The raw segments are read on from where the last reading ended; what is not whole yet is read
 * again the next time. A segment is left for the next one only when that one was there before the
 * last reading of it. After a failed sync a segment is cut short and the next begins again where it
 * counts: then everything is read anew, by the ordinary way, from there on each time. */
#include "session/follow.h"

#include "base/error.h"
#include "session/engine.h"
#include "session/format/envelope.h"
#include "session/walk.h"

#include <string.h>

struct mrd__follow {
    char *dir;
    mrd__stored *stored;
    mrd__engine *engine;
    uint32_t segment;  /* being read, from 1 */
    bool begun;        /* its header was read: noted holds the place */
    mrd__reader noted; /* place alone */
    uint64_t sequence, records;
    bool anew;      /* by mrd__stored_read, from the beginning each time */
    bool told;      /* the first reading is over: frames are told one by one */
    bool framed;    /* the record being taken gave a frame */
    bool has_frame; /* the newest frame is still to be told */
    uint64_t frame_sequence, told_sequence;
    bool has_host;
    mrd__host_ns frame_host;
    size_t series; /* told */
    mrd__buf *out; /* of the reading that runs */
};

static mrd_status on_derived(void *ctx, mrd__file_kind kind, unsigned type, uint64_t sequence,
                             mrd__str payload, mrd_error *error)
{
    (void)sequence, (void)payload, (void)error;
    mrd__follow *f = ctx;
    if (kind == MRD__FILE_METRICS && type == MRD__RECORD_DERIVED + MRD__METRICS_FRAME)
        f->framed = true;
    return MRD_OK;
}

static void begin(mrd__follow *f)
{
    mrd__engine_sink sink = {.ctx = f, .derived = on_derived};
    mrd__engine_destroy(&f->engine);
    f->engine = mrd__engine_create(&sink);
    f->series = 0;
}

mrd_status mrd__follow_open(const char *dir, mrd__follow **out, mrd_error *error)
{
    mrd__stored *stored;
    MRD__TRY(mrd__stored_open(dir, NULL, &stored, error));
    mrd__follow *f = mrd__new(mrd__follow);
    f->dir = mrd__strndup(dir, strlen(dir));
    f->stored = stored;
    f->segment = 1;
    begin(f);
    *out = f;
    return MRD_OK;
}

void mrd__follow_close(mrd__follow **follow)
{
    mrd__follow *f = *follow;
    if (f == NULL) return;
    mrd__engine_destroy(&f->engine);
    mrd__stored_close(&f->stored);
    mrd__free(f->dir);
    mrd__free(f);
    *follow = NULL;
}

/* ---- Documents ---- */

static void tell_series(mrd__follow *f, const mrd__engine_value *values, size_t count)
{
    for (; f->series < count; f->series++) {
        const mrd__series *series = values[f->series].series;
        mrd__buf_printf(f->out, "{\"type\":\"series\",\"id\":%zu,\"metric\":", f->series);
        mrd__buf_json_string(f->out, series->metric);
        mrd__buf_text(f->out, ",\"unit\":");
        mrd__buf_json_string(f->out, series->unit);
        mrd__buf_text(f->out, ",\"source\":");
        mrd__buf_json_string(f->out, series->source);
        mrd__buf_text(f->out, ",\"key\":");
        mrd__buf_json_string(f->out, series->key);
        mrd__buf_text(f->out, "}\n");
    }
}

static void add_sources(mrd__follow *f)
{
    size_t count;
    const mrd__engine_source *sources = mrd__engine_sources(f->engine, &count);
    mrd__buf_text(f->out, ",\"sources\":[");
    for (size_t i = 0; i < count; i++) {
        mrd__buf_text(f->out, i == 0 ? "{\"source\":" : ",{\"source\":");
        mrd__buf_json_string(f->out, sources[i].id);
        mrd__buf_printf(f->out, ",\"envelopes\":%llu,\"state\":\"%s\"}",
                        (unsigned long long)sources[i].envelopes,
                        mrd__source_state_name(sources[i].state));
    }
    mrd__buf_char(f->out, ']');
}

static void tell_frame(mrd__follow *f)
{
    size_t count;
    const mrd__engine_value *values = mrd__engine_values(f->engine, &count);
    mrd__engine_counts counts = mrd__engine_counted(f->engine);
    tell_series(f, values, count);
    mrd__buf_printf(f->out, "{\"type\":\"frame\",\"seq\":%llu,\"hostNs\":",
                    (unsigned long long)f->frame_sequence);
    if (f->has_host)
        mrd__buf_printf(f->out, "\"%lld\"", (long long)f->frame_host.host_ns);
    else
        mrd__buf_text(f->out, "null");
    mrd__buf_printf(f->out, ",\"events\":%llu,\"samples\":%llu,\"decodeErrors\":%llu,\"gaps\":%llu",
                    (unsigned long long)counts.events, (unsigned long long)counts.samples,
                    (unsigned long long)counts.decode_errors, (unsigned long long)counts.gaps);
    add_sources(f);
    mrd__buf_text(f->out, ",\"values\":[");
    const char *between = "";
    for (size_t i = 0; i < count; i++) {
        if (!values[i].framed) continue;
        mrd__buf_printf(f->out, "%s[%zu,", between, i);
        mrd__measured_json(f->out, values[i].value);
        mrd__buf_printf(f->out, ",\"%s\",\"%s\"]", mrd__quality_name(values[i].value.quality),
                        mrd__source_state_name(values[i].state));
        between = ",";
    }
    mrd__buf_text(f->out, "]}\n");
    f->has_frame = false;
    f->told_sequence = f->frame_sequence;
}

static void tell_end(mrd__follow *f)
{
    mrd__buf_printf(f->out, "{\"type\":\"end\",\"state\":\"%s\"}\n",
                    f->stored->manifest.completed ? "completed" : "incomplete");
}

/* ---- Records ---- */

static mrd_status take(void *ctx, const mrd__record *record, mrd_error *error)
{
    mrd__follow *f = ctx;
    f->framed = false;
    MRD__TRY(mrd__engine_take(f->engine, record, error));
    if (!f->framed || record->sequence <= f->told_sequence) return MRD_OK;
    mrd__envelope tick;
    mrd__str payload = {(const char *)record->payload, record->size};
    f->has_host = record->type == MRD__RECORD_RAW &&
                  mrd__envelope_decode(&tick, payload, NULL) == MRD_OK && tick.has_host_receive;
    if (f->has_host) f->frame_host = tick.host_receive;
    f->frame_sequence = record->sequence;
    f->has_frame = true;
    if (f->told) tell_frame(f);
    return MRD_OK;
}

static bool segment_is_there(const mrd__follow *f, uint32_t index)
{
    char name[32];
    mrd__segment_name(index, name);
    char *path = mrd__files_join(f->stored->dir, name);
    bool there = f->stored->files->exists(f->stored->files->ctx, path) == 1;
    mrd__free(path);
    return there;
}

/* All whole records behind the noted place. A segment without a whole header has none yet. */
static mrd_status read_records(mrd__follow *f, mrd__open_file *file, mrd_error *error)
{
    mrd__reader reader;
    mrd__record record;
    mrd__byte_source source = mrd__open_file_source(file);
    mrd__reader_source(&reader, &source, file->size);
    if (f->begun)
        mrd__reader_resume(&reader, &f->noted);
    else
        mrd__reader_follow(&reader, f->sequence, f->records);
    mrd_status status = MRD_OK;
    mrd__read_step step = mrd__reader_head(&reader, error);
    if (step == MRD__STEP_RECORD && reader.head.first_sequence != f->sequence + 1 && !f->begun)
        f->anew = true;
    while (step == MRD__STEP_RECORD && status == MRD_OK && !f->anew) {
        f->begun = true;
        f->noted = reader;
        f->sequence = reader.sequence;
        f->records = reader.records;
        step = mrd__reader_next(&reader, &record, error);
        if (step == MRD__STEP_RECORD) status = take(f, &record, error);
    }
    mrd__reader_reset(&reader);
    if (step == MRD__STEP_FAILED) return error != NULL ? error->status : MRD_ERR_IO;
    return status;
}

static mrd_status read_segments(mrd__follow *f, mrd_error *error)
{
    for (;;) {
        char name[32];
        mrd__open_file file;
        bool next = segment_is_there(f, f->segment + 1);
        mrd__segment_name(f->segment, name);
        MRD__TRY(mrd__open_file_begin(&file, f->stored, name, error));
        mrd_status status = MRD_OK;
        if (file.size > (f->begun ? f->noted.at : 0)) status = read_records(f, &file, error);
        mrd__open_file_end(&file);
        if (status != MRD_OK || f->anew || !next) return status;
        f->segment++;
        f->begun = false;
    }
}

static mrd_status reopen(mrd__follow *f, mrd_error *error)
{
    mrd__stored *stored;
    MRD__TRY(mrd__stored_open(f->dir, NULL, &stored, error));
    mrd__stored_close(&f->stored);
    f->stored = stored;
    return MRD_OK;
}

static mrd_status read_anew(mrd__follow *f, mrd_error *error)
{
    mrd__damage torn;
    size_t told = f->series;
    MRD__TRY(reopen(f, error));
    begin(f);
    f->series = told; /* the same ones, in the same order */
    return mrd__stored_read(f->stored, take, f, &torn, error);
}

mrd_status mrd__follow_read(mrd__follow *f, bool *open, mrd__buf *out, mrd_error *error)
{
    f->out = out;
    *open = true;
    /* Sealing renames the folder: from then on its files are at another path. */
    const mrd__files *files = f->stored->files;
    if (files->exists(files->ctx, f->stored->dir) != 1) MRD__TRY(reopen(f, error));
    bool sealed = mrd__stored_sealed(f->stored);
    mrd_status status = f->anew ? MRD_OK : read_segments(f, error);
    if (status == MRD_OK && f->anew) status = read_anew(f, error);
    /* Renamed between the look and the reading: the next reading finds it. */
    if (status != MRD_OK && !sealed && files->exists(files->ctx, f->stored->dir) != 1)
        return MRD_OK;
    if (status != MRD_OK) return status;
    if (f->has_frame) tell_frame(f);
    f->told = true;
    if (!sealed) return MRD_OK;
    size_t count;
    const mrd__engine_value *values = mrd__engine_values(f->engine, &count);
    tell_series(f, values, count);
    tell_end(f);
    *open = false;
    return MRD_OK;
}
