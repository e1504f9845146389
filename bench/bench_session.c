/* Ingest of sessions below the command line: envelopes offered to the ingress, no text to be read.
 *
 * usage: bench_session FOLDER [quick|full] [1|2|3|4]
 * FOLDER must exist; sessions are made in it, FOLDER/s1 and so on, and stay. With a number only
 * that row is run.
 *
 *   raw      ingress, writer, segments, seal: what the log alone carries
 *   whole    the same and events, samples, report: a recording as it is
 *
 * Each one envelope a lock, and in batches. Nothing may be refused: who offers waits for room. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "session/format/envelope.h"
#include "session/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_NS UINT64_C(60000000000)

static mrd_error error;

static void must(mrd_status status)
{
    if (status == MRD_OK) return;
    fprintf(stderr, "bench_session: %s: %s\n", error.file, error.message);
    exit(1);
}

/* Four sources in turn, as bench/session.mjs has them. Not by printf, a tenth of all that
 * is measured. */
static void write_payload(uint64_t i, mrd__buf *payload)
{
    static const char *const texts[] = {
        "{\"cpuNs\":", "{\"CoreAnimationFramesPerSecond\":", "{\"rxBytes\":", "{\"displayId\":"};
    const uint64_t numbers[] = {i * 400000, i % 61, i * 100, 1};
    mrd__buf_clear(payload);
    mrd__buf_text(payload, texts[i % 4]);
    mrd__buf_uint(payload, numbers[i % 4]);
    mrd__buf_text(payload, i % 4 == 0 ? ",\"nCpu\":6}" : "}");
}

static mrd__reading reading_of(uint64_t i, mrd__buf *payload)
{
    static const char *const sources[] = {"s0", "s1", "s2", "s3"};
    static const char *const kinds[] = {"proc.cpu", "graphics", "net.iface", "frame"};
    write_payload(i, payload);
    return (mrd__reading){.source = sources[i % 4],
                          .kind = kinds[i % 4],
                          .number = i + 1,
                          .time_ns = 1000000000 + i * 1000000,
                          .epoch = 1,
                          .target = 1,
                          .pid = 812,
                          .verified = true,
                          .payload = {payload->data, payload->size}};
}

typedef struct offered {
    mrd__buf payloads; /* encoded, all of them, one behind the other */
    MRD__VEC(mrd__pending) records;
} offered;

/* Made before the clock runs: the offer is what sources cost, not what is measured. */
static void make(offered *o, uint64_t count)
{
    mrd__buf payload = {0};
    mrd__buf_reserve(&o->payloads, count * 160);
    for (uint64_t i = 0; i < count; i++) {
        size_t from = o->payloads.size;
        mrd__reading reading = reading_of(i, &payload);
        mrd__encode_reading(&reading, reading.time_ns, &o->payloads);
        mrd__pending pending = {.type = MRD__RECORD_RAW,
                                .size = (uint32_t)(o->payloads.size - from)};
        mrd__vec_push(&o->records, pending);
    }
    mrd__buf_reset(&payload);
}

static void report(const char *name, const char *how, uint64_t count, uint64_t begin,
                   uint64_t bytes, bool completed)
{
    double seconds = (double)(mrd__monotonic_ns() - begin) / 1e9;
    printf("| %s | %s | %llu | %.2f | %.2f | %.0f | %s |\n", name, how, (unsigned long long)count,
           seconds, (double)count / seconds / 1e6, (double)bytes / seconds / 1e6,
           completed ? "completed" : "incomplete");
}

static void bench_raw(const char *dir, offered *o, size_t batch)
{
    mrd__recording *recording;
    mrd__recording_options options = {.dir = dir};
    uint64_t begin = mrd__monotonic_ns();
    must(mrd__recording_create(&options, &recording, &error));
    const char *at = o->payloads.data;
    for (size_t i = 0; i < o->records.count; i += batch) {
        size_t count = o->records.count - i < batch ? o->records.count - i : batch;
        must(
            mrd__recording_append_many(recording, &o->records.data[i], count, at, WAIT_NS, &error));
        for (size_t j = i; j < i + count; j++)
            at += o->records.data[j].size;
    }
    mrd__finish finish = {.end_event = MRD__STR("{\"event\":\"end\"}"), .facts = "{}"};
    must(mrd__recording_finish(recording, &finish, &error));
    mrd__recording_state state;
    mrd__recording_state_get(recording, &state);
    mrd__recording_destroy(&recording);
    report("raw", batch > 1 ? "batches" : "one by one", state.reserved, begin, state.bytes,
           state.refused == 0);
}

static void bench_whole(const char *dir, uint64_t count, bool batched)
{
    mrd__live live;
    mrd__buf payload = {0};
    bool completed;
    uint64_t begin = mrd__monotonic_ns();
    must(mrd__live_create(&live, dir, MRD__STR("{}"), &error));
    live.wait_ns = MRD__LIVE_FILE_WAIT_NS;
    live.batched = batched;
    for (uint64_t i = 0; i < count; i++) {
        mrd__reading reading = reading_of(i, &payload);
        must(mrd__live_reading(&live, &reading, reading.time_ns, &error));
    }
    must(mrd__live_finish(&live, MRD__STR("{\"event\":\"end\"}"), &completed, &error));
    mrd__recording_state state;
    mrd__recording_state_get(live.recording, &state);
    report("whole", batched ? "batches" : "one by one", count, begin, state.bytes, completed);
    mrd__live_destroy(&live);
    mrd__buf_reset(&payload);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_session FOLDER [quick|full] [1|2|3|4]\n");
        return 2;
    }
    bool full = argc > 2 && strcmp(argv[2], "full") == 0;
    uint64_t count = full ? 4000000 : 1000000;
    int only = argc > 3 ? argv[3][0] - '0' : 0;
    offered o = {0};
    if (only <= 2) make(&o, count); /* rows 3 and 4 make theirs as they go */
    printf("| path | offered | envelopes | s | M envelopes/s | raw MB/s | session |\n");
    printf("|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < 4; i++) {
        if (only != 0 && only != i + 1) continue;
        mrd__buf dir = {0};
        mrd__buf_printf(&dir, "%s/s%d", argv[1], i + 1);
        if (i < 2)
            bench_raw(dir.data, &o, i == 0 ? 1 : 256);
        else
            bench_whole(dir.data, count, i == 3);
        mrd__buf_reset(&dir);
    }
    mrd__buf_reset(&o.payloads);
    mrd__vec_reset(&o.records);
    return 0;
}
