/* Gzip as a stream, and gzip files of JSON through the importer. */
#include "ingest/unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/os.h"
#include "ingest/dump.h"
#include "ingest/gzip.h"
#include "ingest/harness.h"
#include "ingest/ingest.h"

/* Append one member. */
static void add_member(mrd__buf *out, const char *text, size_t size)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    mrd__buf_reserve(out, deflateBound(&z, size) + 64);
    z.next_in = (z_const Bytef *)text;
    z.avail_in = (uInt)size;
    z.next_out = (Bytef *)(out->data + out->size);
    z.avail_out = (uInt)(out->capacity - out->size);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->size = (size_t)((char *)z.next_out - out->data);
    deflateEnd(&z);
}

/* Inflate in steps of `step` bytes. */
static mrd__gzip_info inflate_all(const mrd__buf *packed, size_t step, mrd__buf *out)
{
    mrd__gzip *gzip = mrd__gzip_create(packed->data, packed->size);
    mrd__buf_clear(out);
    mrd__buf_text(out, "");
    while (mrd__gzip_info_of(gzip)->end == MRD__GZIP_GOES_ON) {
        mrd__buf_reserve(out, step + 1);
        size_t got = mrd__gzip_read(gzip, out->data + out->size, step);
        out->size += got;
        assert_true(got == step || mrd__gzip_info_of(gzip)->end != MRD__GZIP_GOES_ON);
    }
    mrd__gzip_info info = *mrd__gzip_info_of(gzip);
    assert_int_equal(info.inflated, out->size);
    mrd__gzip_destroy(&gzip);
    return info;
}

static void test_members(void **state)
{
    (void)state;
    mrd__buf packed = {0}, out = {0};
    add_member(&packed, "hello ", 6);
    add_member(&packed, "", 0);
    add_member(&packed, "world", 5);
    for (size_t step = 1; step < 20; step++) {
        mrd__gzip_info info = inflate_all(&packed, step, &out);
        assert_int_equal(info.end, MRD__GZIP_WHOLE);
        assert_int_equal(info.members, 3);
        assert_int_equal(info.zero_padding, 0);
        assert_int_equal(info.garbage, 0);
        assert_true(mrd__str_is((mrd__str){out.data, out.size}, "hello world"));
    }
    mrd__buf_reset(&packed);
    mrd__buf_reset(&out);
}

static void test_padding_and_garbage(void **state)
{
    (void)state;
    mrd__buf packed = {0}, out = {0};
    add_member(&packed, "abc", 3);
    for (int i = 0; i < 5; i++)
        mrd__buf_char(&packed, '\0');
    mrd__gzip_info info = inflate_all(&packed, 2, &out);
    assert_int_equal(info.end, MRD__GZIP_WHOLE);
    assert_int_equal(info.zero_padding, 5);
    assert_int_equal(info.garbage, 0);
    add_member(&packed, "def", 3);
    mrd__buf_text(&packed, "tail");
    info = inflate_all(&packed, 2, &out);
    assert_int_equal(info.end, MRD__GZIP_WHOLE);
    assert_int_equal(info.members, 2);
    assert_int_equal(info.zero_padding, 5);
    assert_int_equal(info.garbage, 4);
    assert_true(mrd__str_is((mrd__str){out.data, out.size}, "abcdef"));
    mrd__buf_reset(&packed);
    mrd__buf_reset(&out);
}

/* Each cut of a file of two members: never more than was there, never a crash. */
static void test_cuts(void **state)
{
    (void)state;
    mrd__buf packed = {0}, out = {0};
    add_member(&packed, "first member", 12);
    size_t first = packed.size;
    add_member(&packed, "second", 6);
    for (size_t cut = 1; cut < packed.size; cut++) {
        mrd__buf part = {.data = packed.data, .size = cut};
        mrd__gzip_info info = inflate_all(&part, 5, &out);
        bool whole = cut == first;
        assert_int_equal(info.end, whole ? MRD__GZIP_WHOLE : MRD__GZIP_CUT);
        assert_true(out.size <= 18);
        assert_memory_equal(out.data, "first membersecond", out.size);
        if (cut >= first) assert_true(out.size >= 12);
    }
    mrd__buf_reset(&packed);
    mrd__buf_reset(&out);
}

static void test_damage(void **state)
{
    (void)state;
    mrd__buf packed = {0}, out = {0};
    add_member(&packed, "checked text", 12);
    packed.data[packed.size - 6] ^= 1; /* the check sum */
    mrd__gzip_info info = inflate_all(&packed, 64, &out);
    assert_int_equal(info.end, MRD__GZIP_DAMAGED);
    assert_non_null(info.what);
    assert_true(mrd__str_is((mrd__str){out.data, out.size}, "checked text"));
    mrd__buf_reset(&packed);
    mrd__buf_reset(&out);
}

/* ---- Through the importer ---- */

/* The dump of a file that holds these bytes, with the given number of threads. */
static void read_file(const mrd__buf *bytes, uint32_t threads, const char *inflated, mrd__buf *out,
                      uint64_t *members)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/mrd-test-gzip-%ld", (long)getpid());
    mrd_error error = {0};
    assert_int_equal(mrd__file_write_atomic(path, bytes->data, bytes->size, &error), MRD_OK);
    mrd__map map = {0};
    assert_int_equal(mrd__map_open(&map, path, &error), MRD_OK);
    mrd__writer *writer = mrd__writer_create();
    mrd__import in = {.path = path, .map = &map, .writer = writer, .threads = threads};
    const mrd__importer *importer = NULL;
    assert_int_equal(mrd__ingest_detect(path, map.data, map.size, &importer, &error), MRD_OK);
    assert_string_equal(importer->name, "chrome_json");
    mrd_status status = importer->read(&in, &error);
    if (status != MRD_OK) fail_msg("%s", error.message);
    *members = mrd__writer_file(writer, 0)->gzip_members;
    mrd__writer_finish(writer);
    mrd__buf_clear(out);
    dump_facts(writer, inflated, out);
    mrd__writer_destroy(&writer);
    mrd__map_close(&map);
    unlink(path);
}

/* A trace in members cut anywhere gives the facts of the plain text, with one thread and two. */
static void test_import(void **state)
{
    (void)state;
    mrd__buf text = {0}, packed = {0}, want = {0}, got = {0};
    make_trace(&text, 4, 20000);
    read_way((mrd__str){text.data, text.size}, (way){0}, &want, NULL);
    mrd__rng rng = {9};
    uint64_t made = 0, members = 0;
    for (size_t at = 0; at < text.size; made++) {
        size_t size = mrd__rng_below(&rng, 200000);
        if (size > text.size - at) size = text.size - at;
        add_member(&packed, text.data + at, size);
        at += size;
    }
    for (uint32_t threads = 1; threads <= 3; threads++) {
        read_file(&packed, threads, text.data, &got, &members);
        assert_int_equal(members, made);
        assert_string_equal(got.data, want.data);
    }
    /* Plain, through the same door: one thread and the parallel reader. */
    for (uint32_t threads = 1; threads <= 3; threads++) {
        read_file(&text, threads, text.data, &got, &members);
        assert_int_equal(members, 0);
        assert_string_equal(got.data, want.data);
    }
    packed.size -= 1000;
    read_file(&packed, 2, text.data, &got, &members);
    assert_non_null(strstr(got.data, "truncated_input 1 "));
    mrd__buf_reset(&text);
    mrd__buf_reset(&packed);
    mrd__buf_reset(&want);
    mrd__buf_reset(&got);
}

static void test_import_padding(void **state)
{
    (void)state;
    static const char text[] = "[{\"ph\":\"i\",\"ts\":1}]";
    mrd__buf packed = {0}, got = {0};
    uint64_t members;
    add_member(&packed, text, sizeof text - 1);
    for (int i = 0; i < 512; i++)
        mrd__buf_char(&packed, '\0');
    read_file(&packed, 2, text, &got, &members);
    assert_non_null(strstr(got.data, "\nzero_padding_ignored_bytes 512 "));
    mrd__buf_text(&packed, "x");
    read_file(&packed, 2, text, &got, &members);
    assert_non_null(strstr(got.data, "\ntrailing_data 1 "));
    mrd__buf_reset(&packed);
    mrd__buf_reset(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members), cmocka_unit_test(test_padding_and_garbage),
        cmocka_unit_test(test_cuts),    cmocka_unit_test(test_damage),
        cmocka_unit_test(test_import),  cmocka_unit_test(test_import_padding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
