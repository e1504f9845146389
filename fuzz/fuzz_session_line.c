/* What adapters print: any bytes as the stream that `session ingest` and `record --adapter` read.
 * Every line becomes one raw record or one decode error that keeps its bytes; the records, whatever
 * they hold, go through the engine; read in other pieces, and projected once more, all comes out
 * the same; a copy of the projector, made half way, goes on as the original (asked of one in four);
 * and a sample has a number exactly when its quality is ok.
 *
 * Bits of the first byte: 1 the lines are an adapter's, which are stamped as they come, 100 ms
 * apart, with a reading of the machine and a tick of the publisher every tenth line; else they are
 * ingested with the times that they name. A line feed is the latter. */
#include "base/alloc.h"
#include "base/error.h"
#include "session/engine.h"
#include "session/format/broken.h"
#include "session/format/envelope.h"
#include "session/format/sample.h"
#include "session/projector.h"
#include "session/sources/lines.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUT_MAX 65536
#define LIMIT 4096 /* of a line: long ones are met, too */
#define BEAT_NS 100000000
#define BEATS 10 /* from tick to tick */

typedef struct stream {
    bool stamped;
    mrd__stamp stamp;
    mrd__buf records; /* u32 type, u32 size, payload */
    mrd__buf texts;
    uint64_t bytes, lines;
} stream;

/* The record must give back the line, byte for byte. */
static void check_bytes(const mrd__line *line, mrd__record_type type, mrd__str payload)
{
    mrd_error error = {0};
    mrd__str kept;
    if (type == MRD__RECORD_RAW) {
        mrd__envelope envelope;
        if (mrd__envelope_decode(&envelope, payload, &error) != MRD_OK) abort();
        kept = envelope.bytes;
    } else {
        mrd__broken broken;
        if (mrd__broken_decode(&broken, payload, &error) != MRD_OK) abort();
        if (broken.reason.size == 0 || broken.size != line->size) abort();
        kept = broken.bytes;
    }
    if (!mrd__str_equal(kept, line->bytes)) abort();
}

static void add_record(stream *s, mrd__record_type type, mrd__buf *payload)
{
    if (payload->size > MRD__RECORD_PAYLOAD_MAX) abort();
    uint32_t head[2] = {type, (uint32_t)payload->size};
    mrd__buf_add(&s->records, head, sizeof head);
    mrd__buf_str(&s->records, (mrd__str){payload->data, payload->size});
    mrd__buf_reset(payload);
}

/* What the recorder adds of its own. */
static void add_beat(stream *s)
{
    mrd__buf payload = {0};
    mrd__reading reading = {.source = "linux.host",
                            .kind = "host.ctxt",
                            .number = s->lines,
                            .time_ns = s->stamp.host_ns,
                            .epoch = 1,
                            .target = 1,
                            .verified = true,
                            .payload = MRD__STR("{\"switches\":1000}")};
    mrd__encode_reading(&reading, s->stamp.host_ns, &payload);
    add_record(s, MRD__RECORD_RAW, &payload);
    mrd__encode_tick(s->lines / BEATS, s->stamp.host_ns, &payload);
    add_record(s, MRD__RECORD_RAW, &payload);
}

static bool take(void *ctx, const mrd__line *line)
{
    stream *s = ctx;
    s->bytes += line->size + line->ended;
    s->lines++;
    if (line->size == 0) return true;
    mrd__buf payload = {0};
    mrd__encoded encoded = mrd__encode_line(line->bytes, line->size, line->ended,
                                            s->stamped ? &s->stamp : NULL, &s->texts, &payload);
    check_bytes(line, encoded.type, (mrd__str){payload.data, payload.size});
    add_record(s, encoded.type, &payload);
    s->stamp.host_ns += BEAT_NS;
    if (s->stamped && s->lines % BEATS == 0) add_beat(s);
    return true;
}

static void read_stream(stream *s, const uint8_t *data, size_t size, size_t piece)
{
    mrd__lines lines;
    mrd__lines_init(&lines, LIMIT);
    for (size_t at = 0; at < size; at += piece)
        if (!mrd__lines_feed(&lines, (const char *)data + at, size - at < piece ? size - at : piece,
                             take, s))
            abort();
    if (!mrd__lines_end(&lines, take, s)) abort();
    if (s->bytes != size) abort(); /* nothing is lost */
    mrd__lines_reset(&lines);
}

typedef struct kept {
    mrd__buf bytes;
    mrd__metrics_reader reader; /* refuses a number without quality ok, among others */
} kept;

static mrd_status keep(void *ctx, mrd__file_kind kind, unsigned type, uint64_t sequence,
                       mrd__str payload, mrd_error *error)
{
    kept *out = ctx;
    if (payload.size > MRD__RECORD_PAYLOAD_MAX)
        return mrd__fail(error, MRD_ERR_LIMIT, "record_size", "too large");
    if (kind == MRD__FILE_METRICS && mrd__metrics_read(&out->reader, type - MRD__RECORD_DERIVED,
                                                       sequence, payload, error) != MRD_OK)
        abort();
    uint64_t head[4] = {kind, type, sequence, payload.size};
    mrd__buf_add(&out->bytes, head, sizeof head);
    mrd__buf_str(&out->bytes, payload);
    return MRD_OK;
}

/* All records through an engine; everything that it gives, in out. */
static void project(const mrd__buf *records, mrd__buf *out)
{
    kept made = {0};
    mrd__engine_sink sink = {.ctx = &made, .derived = keep};
    mrd__engine *engine = mrd__engine_create(&sink);
    uint64_t sequence = 0;
    for (size_t at = 0; at < records->size;) {
        uint32_t head[2];
        memcpy(head, records->data + at, sizeof head);
        at += sizeof head;
        mrd__record record = {.type = (uint16_t)head[0],
                              .size = head[1],
                              .sequence = ++sequence,
                              .payload = (const uint8_t *)records->data + at};
        mrd_error error = {0};
        mrd_status status = mrd__engine_take(engine, &record, &error);
        if (status != MRD_OK && error.message[0] == '\0') abort();
        at += head[1];
        if (status != MRD_OK) break;
    }
    mrd__engine_facts(engine, out);
    size_t count;
    const mrd__engine_value *values = mrd__engine_values(engine, &count);
    for (size_t i = 0; i < count; i++)
        mrd__buf_printf(out, "%d", (int)values[i].state);
    mrd__engine_destroy(&engine);
    mrd__buf_str(out, (mrd__str){made.bytes.data, made.bytes.size});
    mrd__metrics_reader_reset(&made.reader);
    mrd__buf_reset(&made.bytes);
}

/* ---- A copy of the projector ---- */

static void put_sample(void *ctx, const mrd__sample *sample)
{
    mrd__buf *out = ctx;
    mrd__buf_printf(out, "%llu ", (unsigned long long)sample->sequence);
    mrd__buf_str(out, sample->series->metric);
    mrd__buf_str(out, sample->series->unit);
    mrd__buf_str(out, sample->series->source);
    mrd__buf_json_string(out, sample->series->key);
    mrd__measured_json(out, sample->value);
    mrd__buf_printf(out, "%u %lld\n", (unsigned)sample->value.quality, (long long)sample->time_ns);
}

static void put_origin(void *ctx, uint64_t sequence, const mrd__origin *origin)
{
    mrd__buf_printf(ctx, "%llu ", (unsigned long long)sequence);
    mrd__origin_encode(ctx, origin);
}

static void put_frame(void *ctx, const mrd__frame *frame)
{
    mrd__buf_printf(ctx, "%llu", (unsigned long long)frame->sequence);
    for (size_t i = 0; i < frame->count; i++)
        mrd__buf_printf(ctx, " %u:%d", frame->entries[i].series, (int)frame->entries[i].state);
}

static void apply(mrd__projector *projector, uint64_t sequence, mrd__str payload, mrd__buf *out)
{
    mrd__envelope envelope;
    mrd__session_sink sink = {
        .ctx = out, .origin = put_origin, .sample = put_sample, .frame = put_frame};
    if (mrd__envelope_decode(&envelope, payload, NULL) != MRD_OK) abort();
    mrd__projector_apply(projector, sequence, &envelope, &sink);
}

static void check_copy(const mrd__buf *records)
{
    mrd__projector *first = mrd__projector_create(), *copy = NULL;
    mrd__buf one = {0}, two = {0};
    uint64_t sequence = 0;
    for (size_t at = 0; at < records->size;) {
        uint32_t head[2];
        memcpy(head, records->data + at, sizeof head);
        at += sizeof head;
        mrd__str payload = {records->data + at, head[1]};
        if (copy == NULL && at > records->size / 2) {
            copy = mrd__projector_copy(first);
            mrd__buf_clear(&one);
        }
        sequence++;
        if (head[0] == MRD__RECORD_RAW) apply(first, sequence, payload, &one);
        if (head[0] == MRD__RECORD_RAW && copy != NULL) apply(copy, sequence, payload, &two);
        at += head[1];
    }
    if (copy != NULL) {
        mrd__projector_timebases(first, &one);
        mrd__projector_timebases(copy, &two);
        if (!mrd__str_equal((mrd__str){one.data, one.size}, (mrd__str){two.data, two.size}))
            abort();
    }
    mrd__projector_destroy(&first);
    mrd__projector_destroy(&copy);
    mrd__buf_reset(&one);
    mrd__buf_reset(&two);
}

static bool same(const mrd__buf *a, const mrd__buf *b)
{
    return mrd__str_equal((mrd__str){a->data, a->size}, (mrd__str){b->data, b->size});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > INPUT_MAX) return 0;
    mrd__stamp stamp = {.host_ns = 5000000000, .reconnect = 1, .target = 1};
    stamp.stops = MRD__STR("adapter.0");
    stream whole = {.stamped = (data[0] & 1) != 0, .stamp = stamp};
    stream pieces = whole;
    read_stream(&whole, data, size, size);
    read_stream(&pieces, data, size, 1 + data[0] % 13);
    if (whole.lines != pieces.lines || !same(&whole.records, &pieces.records)) abort();
    mrd__buf first = {0};
    mrd__buf again = {0};
    project(&whole.records, &first);
    project(&pieces.records, &again);
    if (!same(&first, &again)) abort();
    if (size % 4 == 0) check_copy(&whole.records); /* two projectors more take their time */
    mrd__buf_reset(&first);
    mrd__buf_reset(&again);
    mrd__buf_reset(&whole.records);
    mrd__buf_reset(&whole.texts);
    mrd__buf_reset(&pieces.records);
    mrd__buf_reset(&pieces.texts);
    return 0;
}
