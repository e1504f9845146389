/* The Perfetto importer on traces of our own: what it makes of each, whole, deflated and cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/os.h"
#include "ingest/perfetto/encode.h"
#include "ingest/perfetto/fields.h"
#include "ingest/perfetto/perfetto.h"
#include "ingest/perfetto/wire.h"
#include "open/seal.h"

static mrd__store *open_bytes(mrd__str bytes)
{
    mrd__map map = {.data = bytes.data, .size = bytes.size};
    mrd__writer *writer = mrd__writer_create();
    mrd__import in = {.path = "f", .map = &map, .writer = writer, .threads = 1};
    mrd_error error = {0};
    assert_int_equal(mrd__importer_perfetto.read(&in, &error), MRD_OK);
    mrd__store *store = NULL;
    assert_int_equal(mrd__seal(&writer, 1, &store, &error), MRD_OK);
    return store;
}

static void put_str(mrd__buf *out, const mrd__store *store, mrd__str_id id)
{
    mrd__buf_str(out, mrd__store_str(store, id));
}

/* One line a slice, instant and loss. */
static void tell(const mrd__store *store, mrd__buf *out)
{
    mrd__buf scratch = {0};
    mrd__str args;
    for (uint32_t t = 0; t < store->track_count; t++) {
        const mrd__track *track = &store->tracks[t];
        if (track->count == 0) {
            assert_int_equal(track->row_count, 0);
            put_str(out, store, track->name);
            mrd__buf_text(out, ":\n");
        }
        if (track->parent != MRD__NONE && store->tracks[track->parent].count == 0) {
            put_str(out, store, store->tracks[track->parent].name);
            mrd__buf_text(out, " > ");
        }
        for (uint64_t i = track->first; i < track->first + track->count; i++) {
            bool instant = track->kind == MRD__TRACK_INSTANT;
            if (track->kind == MRD__TRACK_COUNTER) continue;
            put_str(out, store, track->name);
            mrd__buf_text(out, instant ? " ! " : " | ");
            put_str(out, store, instant ? store->instants.name[i] : store->slices.name[i]);
            int64_t ts =
                instant ? mrd__store_instant_time(store, i) : mrd__store_slice_start(store, i);
            mrd__buf_printf(out, " %lld", (long long)ts);
            if (!instant) mrd__buf_printf(out, "-%lld", (long long)mrd__store_slice_end(store, i));
            mrd__args_ref ref = instant ? store->instants.args[i] : store->slices.args[i];
            assert_int_equal(mrd__store_args(store, ref, &scratch, &args, NULL), MRD_OK);
            mrd__buf_char(out, ' ');
            mrd__buf_str(out, args);
            mrd__buf_char(out, '\n');
        }
    }
    for (size_t i = 0; i < store->loss_count; i++)
        mrd__buf_printf(out, "loss %s %llu\n", mrd__loss_info_of(store->losses[i].id)->name,
                        (unsigned long long)store->losses[i].count);
    mrd__buf_reset(&scratch);
}

static const char *const sched_lines =
    "CPU 0 | a 100-150 {\"tid\":7,\"priority\":120,\"end_state\":\"Sleeping\"}\n"
    "CPU 0 | a 220-250 {\"tid\":7,\"priority\":120,\"end_state\":\"Runnable\"}\n"
    "state | Running 100-150 \n"
    "state | Sleeping 150-200 \n"
    "state | Runnable 200-220 \n"
    "state | Running 220-250 \n"
    "state | Runnable 250-250 \n";

static const char *expected(const char *name)
{
    if (strcmp(name, "slices") == 0)
        return "worker | outer 100-140 \nbelow | child 110-130 \nfurther below ! mark 120 \n";
    if (strcmp(name, "headings") == 0)
        return "top:\nmiddle:\ntop > middle > leaf | work 100-110 \n";
    if (strcmp(name, "args") == 0)
        return "args ! args 10 {\"int\":-7,\"bool\":true,\"double\":1.5,\"pointer\":\"0xbeef\","
               "\"json\":{\"a\": [1, 2]},\"text\":\"{no json\",\"dict\":{\"k\":\"v\\n\"},"
               "\"array\":[1,2]}\n";
    if (strcmp(name, "steps") == 0) return "steps ! steps 1010 \nsteps ! second 1042 \n";
    if (strcmp(name, "typed") == 0)
        return "typed ! typed 10 {\"value\":{\"kind\":\"ROUND\"},\"other\":\"2 bytes\","
               "\"wheel\":{\"spokes\":[7,-1,5,6],\"kind\":\"ROUND\",\"note\":9,"
               "\"inner\":{\"kind\":6,\"size\":1.5}},\"chrome_keyed_service\":{\"name\":\"svc\"}}\n"
               "loss undescribed_field 1\n";
    if (strcmp(name, "legacy") == 0)
        return "cat:9 | async 1000-9000 \nworker | complete 1000-4000 \n"
               "loss async_missing_id 1\nloss unsupported_phase 1\n"
               "loss flow_start_without_end 1\n";
    return sched_lines;
}

static void check(const char *name, mrd__str bytes)
{
    mrd__store *store = open_bytes(bytes);
    mrd__buf got = {0};
    tell(store, &got);
    if (strcmp(got.data, expected(name)) != 0)
        fail_msg("%s: got\n%s\nwanted\n%s", name, got.data, expected(name));
    mrd__buf_reset(&got);
    mrd__store_destroy(&store);
}

static void test_samples(void **state)
{
    (void)state;
    for (const sample *s = samples; s->name != NULL; s++) {
        mrd__buf bytes = {0};
        s->make(&bytes);
        assert_true(mrd__importer_perfetto.sniff(bytes.data, bytes.size));
        check(s->name, (mrd__str){bytes.data, bytes.size});
        mrd__buf_reset(&bytes);
    }
}

/* The trace as one compressed packet. */
static void wrap(mrd__str bytes, bool zstd, mrd__buf *trace)
{
    mrd__buf packed = {0};
    mrd__buf packet = {0};
    uLongf size = compressBound(bytes.size) + ZSTD_compressBound(bytes.size);
    mrd__buf_reserve(&packed, size);
    if (zstd) {
        size = ZSTD_compress(packed.data, size, bytes.data, bytes.size, 3);
        assert_false(ZSTD_isError(size));
    } else {
        int result = compress((Bytef *)packed.data, &size, (const Bytef *)bytes.data, bytes.size);
        assert_int_equal(result, Z_OK);
    }
    packed.size = size;
    put_message(&packet, zstd ? PACKET_ZSTD : PACKET_DEFLATED, &packed);
    put_message(trace, TRACE_PACKET, &packet);
}

static void test_compressed(void **state)
{
    (void)state;
    for (const sample *s = samples; s->name != NULL; s++) {
        for (int zstd = 0; zstd < 2; zstd++) {
            mrd__buf bytes = {0};
            mrd__buf trace = {0};
            s->make(&bytes);
            wrap((mrd__str){bytes.data, bytes.size}, zstd != 0, &trace);
            check(s->name, (mrd__str){trace.data, trace.size});
            mrd__buf_reset(&bytes);
            mrd__buf_reset(&trace);
        }
    }
}

/* A long name of a machine is cut between characters. */
static void test_machine_name(void **state)
{
    (void)state;
    char name[130];
    mrd__buf bytes = {0};
    mrd__buf system = {0};
    mrd__buf packet = {0};
    memset(name, 'a', 126);
    memcpy(name + 126, "\xc3\xa9", 3);
    put_text(&system, SYSTEM_MACHINE_NAME, name);
    put_message(&packet, PACKET_SYSTEM_INFO, &system);
    put_message(&bytes, TRACE_PACKET, &packet);
    mrd__store *store = open_bytes((mrd__str){bytes.data, bytes.size});
    mrd__str got = mrd__store_str(store, store->machines[0].name);
    name[126] = '\0';
    assert_true(mrd__str_is(got, name));
    mrd__buf_reset(&bytes);
    mrd__store_destroy(&store);
}

/* A cut inside a packet is told and costs that packet alone; one between packets is none. */
static void test_cuts(void **state)
{
    (void)state;
    mrd__buf bytes = {0};
    samples[0].make(&bytes);
    mrd__pb at = mrd__pb_of((mrd__str){bytes.data, bytes.size});
    for (size_t size = 1; size <= bytes.size; size++) {
        mrd__store *store = open_bytes((mrd__str){bytes.data, size});
        mrd__pb_field field;
        while ((const char *)at.at < bytes.data + size && mrd__pb_next(&at, &field)) {
        }
        bool whole = (const char *)at.at == bytes.data + size;
        bool told = false;
        for (size_t i = 0; i < store->loss_count; i++)
            if (store->losses[i].id == MRD__LOSS_TRUNCATED_PACKET) told = true;
        assert_int_equal(told, !whole);
        mrd__store_destroy(&store);
    }
    mrd__buf_reset(&bytes);
}

static void test_wire(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        bool bad;
    } cases[] = {
        {"\x08\x01", 2, false},
        {"\x08\x80", 2, true},                                          /* cut varint */
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, true}, /* too long */
        {"\x0a\x02\x01", 3, true},                                      /* cut bytes */
        {"\x09\x01\x02\x03\x04\x05\x06\x07", 8, true},                  /* cut fixed */
        {"\x0d\x01\x02\x03\x04", 5, false},                             /* fixed32 */
        {"\x0b", 1, true},                                              /* group */
        {"\x00\x01", 2, true},                                          /* field 0 */
        {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, true},     /* length 2^64-1 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mrd__pb at = mrd__pb_of((mrd__str){cases[i].bytes, cases[i].size});
        for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        }
        assert_int_equal(at.bad, cases[i].bad);
    }
}

/* The fuzzer starts from these traces: fuzz/corpus/perfetto holds them as the encoder makes them.
 * With MRD_UPDATE set they are written. */
static void test_corpus(void **state)
{
    (void)state;
    for (const sample *s = samples; s->name != NULL; s++) {
        mrd__buf bytes = {0};
        mrd__buf path = {0};
        mrd__buf kept = {0};
        mrd_error error = {0};
        s->make(&bytes);
        mrd__buf_printf(&path, "%s/fuzz/corpus/perfetto/%s", MRD_SOURCE_DIR, s->name);
        if (getenv("MRD_UPDATE") != NULL)
            assert_int_equal(mrd__file_write_atomic(path.data, bytes.data, bytes.size, &error),
                             MRD_OK);
        assert_int_equal(mrd__file_read(&kept, path.data, 1 << 20, &error), MRD_OK);
        assert_int_equal(kept.size, bytes.size);
        assert_memory_equal(kept.data, bytes.data, bytes.size);
        mrd__buf_reset(&bytes);
        mrd__buf_reset(&path);
        mrd__buf_reset(&kept);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples), cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_cuts),    cmocka_unit_test(test_wire),
        cmocka_unit_test(test_corpus),  cmocka_unit_test(test_machine_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
