/* Archives written by libarchive itself: what comes out is what went in, whatever the threads; what
 * is cut or damaged keeps what came before; limits refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <string.h>

#include "ingest/archive/archive.h"

#define MEMBERS 20
#define ROOM ((size_t)1 << 22)

/* The text of a member: lengths differ, the last ones are long. */
static void text_of(size_t index, mrd__buf *out)
{
    mrd__buf_clear(out);
    for (size_t i = 0; i < index * index * 10 + 1; i++)
        mrd__buf_printf(out, "%zu %zu\n", index, i);
}

typedef int (*set_fn)(struct archive *);

static mrd__buf pack(set_fn format, set_fn filter, size_t members)
{
    mrd__buf out = {0};
    mrd__buf text = {0};
    mrd__buf_reserve(&out, ROOM);
    struct archive *writer = archive_write_new();
    assert_int_equal(format(writer), ARCHIVE_OK);
    if (filter != NULL) assert_int_equal(filter(writer), ARCHIVE_OK);
    archive_write_set_bytes_in_last_block(writer, 1);
    assert_int_equal(archive_write_open_memory(writer, out.data, ROOM, &out.size), ARCHIVE_OK);
    for (size_t i = 0; i < members; i++) {
        char name[64];
        text_of(i, &text);
        snprintf(name, sizeof name, i % 7 == 6 ? ".hidden/%zu" : "folder/member %zu", i);
        struct archive_entry *entry = archive_entry_new();
        archive_entry_set_pathname(entry, name);
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_size(entry, (la_int64_t)text.size);
        assert_int_equal(archive_write_header(writer, entry), ARCHIVE_OK);
        if (text.size > 0)
            assert_int_equal(archive_write_data(writer, text.data, text.size), (int)text.size);
        archive_entry_free(entry);
    }
    assert_int_equal(archive_write_close(writer), ARCHIVE_OK);
    archive_write_free(writer);
    mrd__buf_reset(&text);
    return out;
}

static mrd_status unpack(const mrd__buf *bytes, uint32_t threads, mrd__unpack *limits,
                         mrd__members *out, mrd_error *error)
{
    mrd__unpack own;
    mrd__unpack_init(&own);
    own.packed = bytes->size;
    return mrd__archive_read(limits != NULL ? limits : &own, "a",
                             (mrd__str){bytes->data, bytes->size}, threads, out, error);
}

static void check_whole(const mrd__buf *bytes, const char *format, uint32_t threads)
{
    mrd__members members;
    mrd_error error = {0};
    mrd__buf text = {0};
    assert_int_equal(unpack(bytes, threads, NULL, &members, &error), MRD_OK);
    assert_string_equal(members.format, format);
    assert_null(members.damage);
    assert_int_equal(members.hidden, 2);
    assert_int_equal(members.list.count, MEMBERS - 2);
    size_t at = 0;
    for (size_t i = 0; i < MEMBERS; i++) {
        if (i % 7 == 6) continue;
        const mrd__member *member = &members.list.data[at++];
        text_of(i, &text);
        assert_null(member->damage);
        assert_int_equal(member->map.size, text.size);
        if (text.size > 0) assert_memory_equal(member->map.data, text.data, text.size);
    }
    mrd__buf_reset(&text);
    mrd__members_reset(&members);
}

static void test_whole(void **state)
{
    (void)state;
    static const struct {
        set_fn format, filter;
        const char *name, *head;
    } kinds[] = {
        {archive_write_set_format_zip, NULL, "zip", "zip"},
        {archive_write_set_format_ustar, NULL, "tar", "tar"},
        {archive_write_set_format_gnutar, archive_write_add_filter_gzip, "tar", "gzip"},
        {archive_write_set_format_pax, archive_write_add_filter_zstd, "tar", "zstd"},
        {archive_write_set_format_ustar, archive_write_add_filter_xz, "tar", "xz"},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        mrd__buf bytes = pack(kinds[k].format, kinds[k].filter, MEMBERS);
        assert_string_equal(mrd__archive_format(bytes.data, bytes.size), kinds[k].head);
        check_whole(&bytes, kinds[k].name, 1);
        check_whole(&bytes, kinds[k].name, 4);
        mrd__buf_reset(&bytes);
    }
}

/* A compressed file that is no archive is one member without a name. */
static void test_stream(void **state)
{
    (void)state;
    mrd__buf bytes = pack(archive_write_set_format_raw, archive_write_add_filter_zstd, 1);
    mrd__members members;
    assert_int_equal(unpack(&bytes, 1, NULL, &members, NULL), MRD_OK);
    assert_null(members.format);
    assert_int_equal(members.list.count, 1);
    assert_string_equal(members.list.data[0].name, "");
    mrd__members_reset(&members);
    mrd__buf_reset(&bytes);
}

/* Every cut of an archive gives a prefix of its members, the same for any number of threads. */
static void test_cut(void **state)
{
    (void)state;
    mrd__buf whole = pack(archive_write_set_format_zip, NULL, 6);
    mrd__buf text = {0};
    for (size_t size = 0; size < whole.size; size += 97) {
        mrd__buf cut = {.data = whole.data, .size = size};
        mrd__members one;
        mrd__members four;
        mrd_error error = {0};
        mrd_status status = unpack(&cut, 1, NULL, &one, &error);
        assert_int_equal(unpack(&cut, 4, NULL, &four, &error), status);
        assert_int_equal(one.list.count, four.list.count);
        if (status != MRD_OK) assert_string_equal(error.code, "bad_archive");
        for (size_t i = 0; i < one.list.count; i++) {
            const mrd__member *a = &one.list.data[i];
            const mrd__member *b = &four.list.data[i];
            assert_string_equal(a->name, b->name);
            assert_int_equal(a->map.size, b->map.size);
            assert_int_equal(a->damage == NULL, b->damage == NULL);
            text_of(i, &text);
            assert_true(a->map.size <= text.size);
            if (a->map.size > 0) assert_memory_equal(a->map.data, text.data, a->map.size);
        }
        mrd__members_reset(&one);
        mrd__members_reset(&four);
    }
    mrd__buf_reset(&text);
    mrd__buf_reset(&whole);
}

static void test_limits(void **state)
{
    (void)state;
    mrd__buf bytes = pack(archive_write_set_format_zip, NULL, MEMBERS);
    for (int which = 0; which < 3; which++) {
        static const char *const codes[] = {"archive_bytes", "archive_ratio", "archive_members"};
        for (uint32_t threads = 1; threads <= 4; threads += 3) {
            mrd__unpack limits;
            mrd__members members;
            mrd_error error = {0};
            mrd__unpack_init(&limits);
            limits.packed = bytes.size;
            if (which == 0) limits.max_bytes = 100000;
            if (which == 1) limits.max_ratio = limits.ratio_from = 1;
            if (which == 2) limits.max_members = MEMBERS - 1;
            assert_int_equal(unpack(&bytes, threads, &limits, &members, &error), MRD_ERR_LIMIT);
            assert_string_equal(error.code, codes[which]);
            assert_string_equal(error.file, "a");
            mrd__members_reset(&members);
        }
    }
    mrd__buf_reset(&bytes);
}

static void test_format(void **state)
{
    (void)state;
    assert_null(mrd__archive_format("", 0));
    assert_null(mrd__archive_format("{\"traceEvents\":[]}", 18));
    assert_string_equal(mrd__archive_format("PK\003\004....", 8), "zip");
    static const char text[] = "PK\003\004 and nothing of an archive behind it";
    mrd__buf rubbish = {0};
    mrd__buf_add(&rubbish, text, sizeof text - 1);
    mrd__members members;
    mrd_error error = {0};
    assert_int_equal(unpack(&rubbish, 1, NULL, &members, &error), MRD_ERR_FORMAT);
    assert_string_equal(error.code, "bad_archive");
    mrd__members_reset(&members);
    mrd__buf_reset(&rubbish);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),  cmocka_unit_test(test_stream), cmocka_unit_test(test_cut),
        cmocka_unit_test(test_limits), cmocka_unit_test(test_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
