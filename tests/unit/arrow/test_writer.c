#include "arrow/arrow.h"
#include "base/alloc.h"
#include "base/error.h"
#include "unit.h"

#include <string.h>

static mrd__str two_words(const void *ctx, size_t index)
{
    (void)ctx;
    return index == 0 ? MRD__STR("a") : MRD__STR("xyz");
}

static const mrd__arrow_field small_fields[] = {{"t", MRD__ARROW_FLOAT64, false},
                                                {"n", MRD__ARROW_DICT8, true}};
static const mrd__arrow_kv small_metadata[] = {{"k", {"v", 1}}};

static mrd_status small_stream(const mrd_sink *sink, mrd_error *error)
{
    static const double t[] = {1, -2.5, 3};
    static const int8_t n[] = {1, 0, 1};
    static const uint8_t valid[] = {5};
    mrd__arrow_column columns[] = {{.data = t}, {.data = n, .validity = valid}};
    mrd__arrow_dict words = {2, two_words, NULL};
    mrd__arrow_writer *w = mrd__arrow_writer_create(small_fields, 2, small_metadata, 1, sink);
    mrd_status status = mrd__arrow_writer_dictionary(w, 1, &words, error);
    if (status == MRD_OK) status = mrd__arrow_writer_batch(w, columns, 3, error);
    if (status == MRD_OK) status = mrd__arrow_writer_finish(w, error);
    mrd__arrow_writer_destroy(&w);
    assert_null(w);
    return status;
}

/* The stream of small_stream as three foreign readers have accepted it (tests/interop). */
static const char golden[] = "ffffffff40010000100000000c001700"
                             "14001600100008000c00000000000000"
                             "00000000000000001800000004000100"
                             "0000000000000a000e000c0004000800"
                             "0a0000000c000000d000000000000000"
                             "020000001c0000005800000000000000"
                             "10001200040010001100080000000c00"
                             "1000000010000000180000001c000000"
                             "00030000010000007400060006000400"
                             "06000000020000000000000000000000"
                             "1000160004001400150008000c001000"
                             "1000000014000000200000002c000000"
                             "5400000001050000010000006e000000"
                             "00000000040004000400000000000000"
                             "08001400080010000800000000000000"
                             "01000000000000001000000000000000"
                             "08000900040008000800000008000000"
                             "0100000000000000010000000c000000"
                             "08000c00040008000800000008000000"
                             "0c000000010000006b00000001000000"
                             "7600000000000000ffffffffb8000000"
                             "100000000c0017001400160010000800"
                             "0c000000000000001800000000000000"
                             "10000000040002000800140008001000"
                             "08000000000000000100000000000000"
                             "1000000000000a001800080010001400"
                             "0a000000000000000200000000000000"
                             "0c000000200000000000000001000000"
                             "02000000000000000000000000000000"
                             "00000000030000000000000000000000"
                             "00000000000000000000000000000000"
                             "0c000000000000001000000000000000"
                             "04000000000000000000000001000000"
                             "04000000000000006178797a00000000"
                             "ffffffffc0000000100000000c001700"
                             "14001600100008000c00000000000000"
                             "28000000000000001800000004000300"
                             "0000000000000a001800080010001400"
                             "0a000000000000000300000000000000"
                             "0c000000300000000000000002000000"
                             "03000000000000000000000000000000"
                             "03000000000000000100000000000000"
                             "00000000040000000000000000000000"
                             "00000000000000000000000000000000"
                             "18000000000000001800000000000000"
                             "01000000000000002000000000000000"
                             "0300000000000000000000000000f03f"
                             "00000000000004c00000000000000840"
                             "05000000000000000100010000000000"
                             "ffffffff00000000";

static void test_golden(void **state)
{
    (void)state;
    mrd__buf out = {0};
    mrd__buf hex = {0};
    mrd_sink sink = mrd__buf_sink(&out);
    assert_int_equal(small_stream(&sink, NULL), MRD_OK);
    for (size_t i = 0; i < out.size; i++)
        mrd__buf_printf(&hex, "%02x", (unsigned char)out.data[i]);
    assert_string_equal(hex.data, golden);
    mrd__buf_reset(&out);
    mrd__buf_reset(&hex);
}

/* ---- Walking the bytes without the builder's code ---- */

static int64_t get(const char *at, size_t size)
{
    int64_t value = 0;
    memcpy(&value, at, size);
    return value;
}

/* Where slot of the table at `table` is; NULL when absent. */
static const char *slot(const char *table, int index)
{
    const char *vtable = table - (int32_t)get(table, 4);
    int at = 4 + 2 * index;
    if (at >= get(vtable, 2) || get(vtable + at, 2) == 0) return NULL;
    return table + get(vtable + at, 2);
}

static const char *follow(const char *at)
{
    return at + get(at, 4);
}

typedef struct found {
    int kinds[64]; /* Message header types in order */
    int64_t rows[64];
    size_t count;
    bool ended;
} found;

/* Frames, alignment, the version, buffer places of every message of a stream. */
static found walk(const char *data, size_t size)
{
    found f = {0};
    size_t at = 0;
    while (at < size) {
        assert_int_equal(at % 8, 0);
        assert_int_equal((uint32_t)get(data + at, 4), 0xffffffff);
        size_t meta = (size_t)get(data + at + 4, 4);
        at += 8;
        if (meta == 0) {
            f.ended = true;
            assert_int_equal(at, size);
            break;
        }
        assert_int_equal(meta % 8, 0);
        const char *message = follow(data + at);
        assert_int_equal(get(slot(message, 0), 2), 4);
        int kind = (int)get(slot(message, 1), 1);
        int64_t body = get(slot(message, 3), 8);
        const char *header = follow(slot(message, 2));
        assert_true(f.count < 64);
        f.kinds[f.count] = kind;
        if (kind == 2) header = follow(slot(header, 1));
        if (kind >= 2) {
            f.rows[f.count] = get(slot(header, 0), 8);
            const char *buffers = follow(slot(header, 2));
            int64_t end = 0;
            for (int64_t i = 0; i < get(buffers, 4); i++) {
                assert_int_equal(get(buffers + 4 + 16 * i, 8), end);
                end += (get(buffers + 12 + 16 * i, 8) + 7) / 8 * 8;
            }
            assert_int_equal(end, body);
        }
        f.count++;
        at += meta + (size_t)body;
    }
    return f;
}

static void test_structure(void **state)
{
    (void)state;
    mrd__buf out = {0};
    mrd_sink sink = mrd__buf_sink(&out);
    assert_int_equal(small_stream(&sink, NULL), MRD_OK);
    found f = walk(out.data, out.size);
    assert_true(f.ended);
    assert_int_equal(f.count, 3);
    assert_int_equal(f.kinds[0], 1);
    assert_int_equal(f.kinds[1], 2);
    assert_int_equal(f.rows[1], 2);
    assert_int_equal(f.kinds[2], 3);
    assert_int_equal(f.rows[2], 3);
    mrd__buf_reset(&out);
}

/* No row at all: schema, dictionary of 0 words, one batch of length 0, end. */
static void test_empty(void **state)
{
    (void)state;
    mrd__buf out = {0};
    mrd_sink sink = mrd__buf_sink(&out);
    mrd__arrow_dict none = {0, NULL, NULL};
    mrd__arrow_writer *w = mrd__arrow_writer_create(small_fields, 2, NULL, 0, &sink);
    assert_int_equal(mrd__arrow_writer_dictionary(w, 1, &none, NULL), MRD_OK);
    assert_int_equal(mrd__arrow_writer_finish(w, NULL), MRD_OK);
    mrd__arrow_writer_destroy(&w);
    found f = walk(out.data, out.size);
    assert_true(f.ended);
    assert_int_equal(f.count, 3);
    assert_int_equal(f.rows[1] + f.rows[2], 0);
    mrd__buf_clear(&out);
    w = mrd__arrow_writer_create(NULL, 0, NULL, 0, &sink); /* not even a column */
    assert_int_equal(mrd__arrow_writer_finish(w, NULL), MRD_OK);
    mrd__arrow_writer_destroy(&w);
    f = walk(out.data, out.size);
    assert_true(f.ended);
    assert_int_equal(f.count, 2);
    mrd__arrow_writer_destroy(&w);
    mrd__arrow_writer_destroy(NULL);
    mrd__buf_reset(&out);
}

static void test_split(void **state)
{
    (void)state;
    size_t rows = 2 * MRD__ARROW_BATCH_ROWS + 5;
    int64_t *values = mrd__new_array(int64_t, rows);
    int32_t *offsets = mrd__new_array(int32_t, rows + 1);
    for (size_t i = 0; i < rows; i++)
        offsets[i + 1] = offsets[i] + (int32_t)(i % 2);
    char *bytes = mrd__calloc(rows, 1);
    mrd__arrow_field fields[] = {{"v", MRD__ARROW_INT64, false}, {"s", MRD__ARROW_UTF8, false}};
    mrd__arrow_column columns[] = {{.data = values}, {.offsets = offsets, .bytes = bytes}};
    mrd__buf out = {0};
    mrd_sink sink = mrd__buf_sink(&out);
    mrd__arrow_writer *w = mrd__arrow_writer_create(fields, 2, NULL, 0, &sink);
    assert_int_equal(mrd__arrow_writer_batch(w, columns, 0, NULL), MRD_OK);
    assert_int_equal(mrd__arrow_writer_batch(w, columns, rows, NULL), MRD_OK);
    assert_int_equal(mrd__arrow_writer_batch(w, columns, MRD__ARROW_BATCH_ROWS, NULL), MRD_OK);
    assert_int_equal(mrd__arrow_writer_finish(w, NULL), MRD_OK);
    mrd__arrow_writer_destroy(&w);
    found f = walk(out.data, out.size);
    static const int64_t want[] = {0, 0, 65536, 65536, 5, 65536};
    assert_int_equal(f.count, 6);
    for (size_t i = 1; i < 6; i++)
        assert_int_equal(f.rows[i], want[i]);
    mrd__buf_reset(&out);
    mrd__free(values);
    mrd__free(offsets);
    mrd__free(bytes);
}

/* Alignment holds for names, words and metadata of every length. */
static void test_alignment(void **state)
{
    (void)state;
    char name[20] = "";
    for (size_t length = 0; length < 18; length++) {
        memset(name, 'n', length);
        mrd__arrow_field fields[] = {{name, MRD__ARROW_UINT8, false}, {"b", MRD__ARROW_BOOL, true}};
        mrd__arrow_kv metadata[] = {{name, {name, length}}, {"x", {"y", 1}}};
        uint8_t data[20] = {0};
        mrd__arrow_column columns[] = {{.data = data}, {.data = data, .validity = data}};
        mrd__buf out = {0};
        mrd_sink sink = mrd__buf_sink(&out);
        mrd__arrow_writer *w = mrd__arrow_writer_create(fields, 2, metadata, 2, &sink);
        assert_int_equal(mrd__arrow_writer_batch(w, columns, length, NULL), MRD_OK);
        assert_int_equal(mrd__arrow_writer_finish(w, NULL), MRD_OK);
        mrd__arrow_writer_destroy(&w);
        assert_true(walk(out.data, out.size).ended);
        mrd__buf_reset(&out);
    }
}

/* ---- Trouble ---- */

typedef struct failing_sink {
    size_t calls, fail_at;
} failing_sink;

static mrd_status failing_write(void *ctx, const void *data, size_t size, mrd_error *error)
{
    failing_sink *s = ctx;
    (void)data;
    (void)size;
    if (s->calls++ < s->fail_at) return MRD_OK;
    return mrd__fail(error, MRD_ERR_CANCELLED, "gone", "the reader went away");
}

/* The sink fails at its first, second, ... write: the status comes through, then all succeed. */
static void test_sink_fails(void **state)
{
    (void)state;
    size_t rows = 70000;
    double *values = mrd__new_array(double, rows);
    mrd__arrow_field field = {"v", MRD__ARROW_FLOAT64, false};
    mrd__arrow_column column = {.data = values};
    size_t fail_at = 0;
    for (;; fail_at++) {
        failing_sink counter = {0, fail_at};
        mrd_sink sink = {&counter, failing_write};
        mrd_error error = {0};
        mrd__arrow_writer *w = mrd__arrow_writer_create_file(&field, 1, NULL, 0, &sink);
        mrd_status status = mrd__arrow_writer_batch(w, &column, rows, &error);
        if (status != MRD_OK) {
            assert_int_equal(status, MRD_ERR_CANCELLED);
            assert_string_equal(error.code, "gone");
            /* Broken stays broken, and the sink is not asked again. */
            assert_int_equal(mrd__arrow_writer_batch(w, &column, 1, &error), MRD_ERR_CANCELLED);
            assert_string_equal(error.code, "stream_broken");
            assert_int_equal(mrd__arrow_writer_finish(w, NULL), MRD_ERR_CANCELLED);
            assert_int_equal(counter.calls, fail_at + 1);
        } else {
            status = mrd__arrow_writer_finish(w, &error);
        }
        mrd__arrow_writer_destroy(&w);
        if (status == MRD_OK) break;
        assert_true(fail_at < 100);
    }
    assert_true(fail_at >= 4); /* metadata and values of two batches, the end */
    mrd__free(values);
}

static mrd__str long_word(const void *ctx, size_t index)
{
    (void)index;
    return (mrd__str){ctx, (size_t)1 << 30};
}

static void test_limits(void **state)
{
    (void)state;
    mrd__buf out = {0};
    mrd_sink sink = mrd__buf_sink(&out);
    mrd_error error = {0};
    mrd__arrow_field fields[] = {{"a", MRD__ARROW_DICT8, false}, {"b", MRD__ARROW_DICT16, false}};
    mrd__arrow_writer *w = mrd__arrow_writer_create(fields, 2, NULL, 0, &sink);
    mrd__arrow_dict words = {129, two_words, NULL};
    assert_int_equal(mrd__arrow_writer_dictionary(w, 0, &words, &error), MRD_ERR_LIMIT);
    assert_string_equal(error.message, "129 different values do not fit the index of a column "
                                       "that holds 128");
    words.count = 32769;
    assert_int_equal(mrd__arrow_writer_dictionary(w, 1, &words, &error), MRD_ERR_LIMIT);
    mrd__arrow_dict huge = {2, long_word, two_words};
    assert_int_equal(mrd__arrow_writer_dictionary(w, 1, &huge, &error), MRD_ERR_LIMIT);
    assert_int_equal(out.size, 0);
    words.count = 128; /* a refusal changes nothing: the field may still get words */
    assert_int_equal(mrd__arrow_writer_dictionary(w, 0, &words, &error), MRD_OK);
    words.count = 32768;
    assert_int_equal(mrd__arrow_writer_dictionary(w, 1, &words, &error), MRD_OK);
    assert_int_equal(mrd__arrow_writer_finish(w, &error), MRD_OK);
    assert_int_equal(walk(out.data, out.size).rows[2], 32768);
    mrd__arrow_writer_destroy(&w);
    mrd__arrow_kv metadata = {"k", {NULL, (size_t)1 << 31}};
    w = mrd__arrow_writer_create(fields, 0, &metadata, 1, &sink);
    assert_int_equal(mrd__arrow_writer_finish(w, &error), MRD_ERR_LIMIT);
    mrd__arrow_writer_destroy(&w);
    mrd__buf_reset(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),    cmocka_unit_test(test_structure),
        cmocka_unit_test(test_empty),     cmocka_unit_test(test_split),
        cmocka_unit_test(test_alignment), cmocka_unit_test(test_sink_fails),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
