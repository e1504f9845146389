#include "session/format/sample.h"

#include "base/assert.h"
#include "base/error.h"
#include "session/format/bytes.h"

#include <math.h>

/* series  u32 id, u8 kind, u8 0, u16 0, u32 numer, u32 denom, texts metric, unit, source, key (each
 *         u8 size and bytes)
 * sample  u32 series, u8 quality, u8 form, u8 flags, u8 0, i64 host ns, i64 covered ns; when
 *         ok also i64 time ns, u64 number, u32 n, u32 div; of a rate also u64 delta
 * frame   i64 host ns, u32 count, u32 0, entries of 16 bytes: u32 series, u8 quality, u8 form, u8
 *         state, u8 0, u64 number (0 unless ok) */
enum {
    SERIES_HEAD = 16,
    SAMPLE_HEAD = 24,
    SAMPLE_OK = 48,
    SAMPLE_RATE = 56,
    FRAME_HEAD = 16,
    FRAME_ENTRY = 16,
};

const char *const mrd__metrics_type_names[MRD__METRICS_TYPES] = {"series", "sample", "frame"};

const char *mrd__quality_name(mrd__quality quality)
{
    static const char *const names[] = {"ok",
                                        "warmup",
                                        "missing",
                                        "not-foreground",
                                        "not-applicable",
                                        "counter-reset",
                                        "discontinuity",
                                        "unsupported"};
    return names[quality];
}

const char *mrd__source_state_name(mrd__source_state state)
{
    static const char *const names[] = {"live", "stale", "ended"};
    return names[state];
}

mrd__measured mrd__measured_integer(int64_t value, uint32_t n)
{
    return (mrd__measured){.form = MRD__NUMBER_INTEGER, .n = n, .number_ = {.integer = value}};
}

mrd__measured mrd__measured_real(double value, uint32_t n)
{
    mrd__assert(isfinite(value));
    return (mrd__measured){.form = MRD__NUMBER_REAL, .n = n, .number_ = {.real = value}};
}

mrd__measured mrd__measured_none(mrd__quality quality)
{
    mrd__assert(quality != MRD__QUALITY_OK && quality < MRD__QUALITIES);
    return (mrd__measured){.quality = quality};
}

bool mrd__measured_get(mrd__measured measured, double *out)
{
    if (measured.quality != MRD__QUALITY_OK || measured.form == MRD__NUMBER_NONE) return false;
    *out = measured.form == MRD__NUMBER_INTEGER ? (double)measured.number_.integer
                                                : measured.number_.real;
    return true;
}

bool mrd__measured_get_integer(mrd__measured measured, int64_t *out)
{
    if (measured.quality != MRD__QUALITY_OK || measured.form != MRD__NUMBER_INTEGER) return false;
    *out = measured.number_.integer;
    return true;
}

void mrd__measured_json(mrd__buf *out, mrd__measured measured)
{
    double real;
    int64_t integer;
    if (mrd__measured_get_integer(measured, &integer))
        mrd__buf_int(out, integer);
    else if (mrd__measured_get(measured, &real))
        mrd__buf_double(out, real);
    else
        mrd__buf_text(out, "null");
}

/* ---- Encoding ---- */

static uint64_t number_bits(mrd__measured measured)
{
    uint64_t bits = 0;
    if (measured.form == MRD__NUMBER_INTEGER) bits = (uint64_t)measured.number_.integer;
    if (measured.form == MRD__NUMBER_REAL) memcpy(&bits, &measured.number_.real, sizeof bits);
    return bits;
}

void mrd__series_encode(mrd__buf *out, const mrd__series *series)
{
    const mrd__str texts[] = {series->metric, series->unit, series->source, series->key};
    uint8_t head[SERIES_HEAD] = {0};
    mrd__put32(head, series->id);
    head[4] = series->kind;
    mrd__put32(head + 8, series->numer);
    mrd__put32(head + 12, series->denom);
    mrd__buf_add(out, head, sizeof head);
    for (size_t i = 0; i < 4; i++) {
        mrd__assert(texts[i].size <= UINT8_MAX);
        mrd__buf_char(out, (char)(uint8_t)texts[i].size);
        mrd__buf_str(out, texts[i]);
    }
}

void mrd__sample_encode(mrd__buf *out, const mrd__sample *sample)
{
    uint8_t bytes[SAMPLE_RATE] = {0};
    bool ok = sample->value.quality == MRD__QUALITY_OK;
    bool rate = (sample->flags & MRD__SAMPLE_RATE) != 0;
    mrd__put32(bytes, sample->series->id);
    bytes[4] = (uint8_t)sample->value.quality;
    bytes[5] = (uint8_t)sample->value.form;
    bytes[6] = sample->flags;
    mrd__put64(bytes + 8, (uint64_t)sample->host.host_ns);
    mrd__put64(bytes + 16, (uint64_t)sample->covered_ns);
    mrd__put64(bytes + 24, (uint64_t)sample->time_ns);
    mrd__put64(bytes + 32, number_bits(sample->value));
    mrd__put32(bytes + 40, sample->value.n);
    mrd__put32(bytes + 44, sample->div);
    mrd__put64(bytes + 48, sample->delta);
    mrd__buf_add(out, bytes, !ok ? SAMPLE_HEAD : rate ? SAMPLE_RATE : SAMPLE_OK);
}

void mrd__frame_encode(mrd__buf *out, const mrd__frame *frame)
{
    uint8_t head[FRAME_HEAD] = {0};
    mrd__put64(head, (uint64_t)frame->host.host_ns);
    mrd__put32(head + 8, (uint32_t)frame->count);
    mrd__buf_reserve(out, FRAME_HEAD + frame->count * FRAME_ENTRY);
    mrd__buf_add(out, head, sizeof head);
    for (size_t i = 0; i < frame->count; i++) {
        const mrd__frame_entry *entry = &frame->entries[i];
        uint8_t bytes[FRAME_ENTRY] = {0};
        mrd__put32(bytes, entry->series);
        bytes[4] = (uint8_t)entry->value.quality;
        bytes[5] = (uint8_t)entry->value.form;
        bytes[6] = (uint8_t)entry->state;
        mrd__put64(bytes + 8, number_bits(entry->value));
        mrd__buf_add(out, bytes, sizeof bytes);
    }
}

/* ---- Reading ---- */

static mrd_status bad(mrd_error *error, uint64_t sequence, const char *what)
{
    return mrd__fail(error, MRD_ERR_FORMAT, "bad_sample", "metrics record of sequence %llu: %s",
                     (unsigned long long)sequence, what);
}

/* What a value may be: a number with quality ok and no other. NULL: it may. */
static const char *read_measured(const uint8_t *bytes, uint64_t bits, uint32_t n,
                                 mrd__measured *out)
{
    unsigned quality = bytes[0], form = bytes[1];
    if (quality >= MRD__QUALITIES) return "no such quality";
    if (form > MRD__NUMBER_REAL) return "no such form of number";
    if ((quality == MRD__QUALITY_OK) != (form != MRD__NUMBER_NONE))
        return "a number and a quality other than ok, or ok and no number";
    *out = (mrd__measured){.quality = quality, .form = form, .n = n};
    if (form == MRD__NUMBER_NONE) return bits == 0 ? NULL : "a number beside a quality";
    if (form == MRD__NUMBER_INTEGER) {
        out->number_.integer = (int64_t)bits;
        return NULL;
    }
    memcpy(&out->number_.real, &bits, sizeof bits);
    return isfinite(out->number_.real) ? NULL : "a number that is not finite";
}

static mrd_status read_series(mrd__metrics_reader *reader, uint64_t sequence, mrd__str in,
                              mrd_error *error)
{
    const uint8_t *bytes = (const uint8_t *)in.data;
    if (in.size < SERIES_HEAD) return bad(error, sequence, "a series shorter than its head");
    mrd__series series = {.id = mrd__get32(bytes),
                          .kind = bytes[4],
                          .numer = mrd__get32(bytes + 8),
                          .denom = mrd__get32(bytes + 12)};
    if (series.id != reader->series.count)
        return bad(error, sequence, "a series whose number is not the next one");
    mrd__str *texts[] = {&series.metric, &series.unit, &series.source, &series.key};
    size_t at = SERIES_HEAD;
    for (size_t i = 0; i < 4; i++) {
        if (at == in.size || bytes[at] > in.size - at - 1)
            return bad(error, sequence, "a series whose texts are cut");
        *texts[i] = (mrd__str){in.data + at + 1, bytes[at]};
        at += 1 + (size_t)bytes[at];
    }
    if (at != in.size) return bad(error, sequence, "bytes behind a series");
    for (size_t i = 0; i < 4; i++)
        texts[i]->data = mrd__arena_text(&reader->texts, texts[i]->data, texts[i]->size);
    mrd__series *kept = mrd__arena_alloc(&reader->texts, sizeof *kept, sizeof(void *));
    *kept = series;
    mrd__vec_push(&reader->series, kept);
    return MRD_OK;
}

static mrd_status read_sample(mrd__metrics_reader *reader, uint64_t sequence, mrd__str in,
                              mrd_error *error)
{
    const uint8_t *bytes = (const uint8_t *)in.data;
    if (in.size < SAMPLE_HEAD) return bad(error, sequence, "a sample shorter than its head");
    bool ok = bytes[4] == MRD__QUALITY_OK, rate = (bytes[6] & MRD__SAMPLE_RATE) != 0;
    size_t size = !ok ? SAMPLE_HEAD : rate ? SAMPLE_RATE : SAMPLE_OK;
    uint32_t series = mrd__get32(bytes);
    if (in.size != size) return bad(error, sequence, "a sample of another size");
    if (series >= reader->series.count) return bad(error, sequence, "a sample of no series");
    if (bytes[6] > MRD__SAMPLE_FLAGS || bytes[7] != 0)
        return bad(error, sequence, "unknown flags of a sample");
    mrd__sample sample = {.sequence = sequence,
                          .series = reader->series.data[series],
                          .host = {(int64_t)mrd__get64(bytes + 8)},
                          .covered_ns = (int64_t)mrd__get64(bytes + 16),
                          .flags = bytes[6],
                          .div = 1};
    const char *what = read_measured(bytes + 4, ok ? mrd__get64(bytes + 32) : 0,
                                     ok ? mrd__get32(bytes + 40) : 0, &sample.value);
    if (what != NULL) return bad(error, sequence, what);
    if (ok) sample.time_ns = (int64_t)mrd__get64(bytes + 24);
    if (ok) sample.div = mrd__get32(bytes + 44);
    if (ok && rate) sample.delta = mrd__get64(bytes + 48);
    if (sample.time_ns < 0 || sample.covered_ns < 0) return bad(error, sequence, "a time below 0");
    reader->sample = sample;
    return MRD_OK;
}

static mrd_status read_frame(mrd__metrics_reader *reader, uint64_t sequence, mrd__str in,
                             mrd_error *error)
{
    const uint8_t *bytes = (const uint8_t *)in.data;
    if (in.size < FRAME_HEAD) return bad(error, sequence, "a frame shorter than its head");
    size_t count = mrd__get32(bytes + 8);
    if ((in.size - FRAME_HEAD) / FRAME_ENTRY != count || (in.size - FRAME_HEAD) % FRAME_ENTRY != 0)
        return bad(error, sequence, "a frame of another size");
    reader->entries.count = 0;
    mrd__vec_reserve(&reader->entries, count);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = bytes + FRAME_HEAD + i * FRAME_ENTRY;
        mrd__frame_entry entry = {.series = mrd__get32(at), .state = at[6]};
        if (entry.series >= reader->series.count || at[6] >= MRD__SOURCE_STATES || at[7] != 0)
            return bad(error, sequence, "an entry of a frame of no series or state");
        const char *what = read_measured(at + 4, mrd__get64(at + 8), 1, &entry.value);
        if (what != NULL) return bad(error, sequence, what);
        reader->entries.data[i] = entry;
    }
    reader->entries.count = count;
    reader->frame = (mrd__frame){.sequence = sequence,
                                 .host = {(int64_t)mrd__get64(bytes)},
                                 .entries = reader->entries.data,
                                 .count = count};
    return MRD_OK;
}

mrd_status mrd__metrics_read(mrd__metrics_reader *reader, unsigned type, uint64_t sequence,
                             mrd__str payload, mrd_error *error)
{
    switch (type) {
    case MRD__METRICS_SERIES:
        return read_series(reader, sequence, payload, error);
    case MRD__METRICS_SAMPLE:
        return read_sample(reader, sequence, payload, error);
    case MRD__METRICS_FRAME:
        return read_frame(reader, sequence, payload, error);
    default:
        return bad(error, sequence, "no such type of record");
    }
}

void mrd__metrics_reader_reset(mrd__metrics_reader *reader)
{
    mrd__vec_reset(&reader->series);
    mrd__vec_reset(&reader->entries);
    mrd__arena_reset(&reader->texts);
    *reader = (mrd__metrics_reader){0};
}
