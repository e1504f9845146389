#include "arrow/arrow.h"
#include "arrow/message.h"
#include "arrow/reader.h"
#include "base/alloc.h"
#include "base/os.h"
#include "unit.h"

#include <string.h>

static mrd__str color(const void *ctx, size_t index)
{
    static const char *const names[] = {"red", "", "blue"};
    (void)ctx;
    return mrd__str_of(names[index]);
}

static const mrd__arrow_field fields[] = {
    {"f64", MRD__ARROW_FLOAT64, true}, {"i64", MRD__ARROW_INT64, true},
    {"u64", MRD__ARROW_UINT64, false}, {"i32", MRD__ARROW_INT32, false},
    {"u8", MRD__ARROW_UINT8, false},   {"flag", MRD__ARROW_BOOL, true},
    {"text", MRD__ARROW_UTF8, true},   {"color", MRD__ARROW_DICT8, true},
    {"u16", MRD__ARROW_UINT16, false}};
#define FIELDS (sizeof fields / sizeof fields[0])
#define ROWS 10

static const double f64[ROWS] = {0, 1.5, -2, 3, 4, 5, 6, 7, 8, 1e300};
static const int64_t i64[ROWS] = {INT64_MIN, INT64_MAX, -1, 9007199254740993, 0, 1, 2, 3, 4, 5};
static const uint64_t u64[ROWS] = {0, UINT64_MAX, INT64_MAX, 3, 4, 5, 6, 7, 8, 9};
static const int32_t i32[ROWS] = {INT32_MIN, INT32_MAX, -1, 3, 4, 5, 6, 7, 8, 9};
static const uint8_t u8[ROWS] = {255, 1, 2, 3, 4, 5, 6, 7, 8, 9};
static const uint16_t u16[ROWS] = {65535, 1, 2, 3, 4, 5, 6, 7, 8, 9};
static const uint8_t bits[] = {0xa5, 0x02};
static const uint8_t valid[] = {0xfd, 0x01}; /* rows 1 and 9 are null */
static const int32_t offsets[ROWS + 1] = {0, 1, 3, 3, 6, 6, 6, 7, 8, 9, 10};
static const char bytes[] = "abbcccdefg";
static const int8_t colors[ROWS] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0};

static void write_arrow(mrd__buf *out, size_t batches, bool file)
{
    const void *data[] = {f64, i64, u64, i32, u8, bits, NULL, colors, u16};
    mrd__arrow_column columns[FIELDS];
    for (size_t i = 0; i < FIELDS; i++)
        columns[i] =
            (mrd__arrow_column){.data = data[i], .validity = fields[i].nullable ? valid : NULL};
    columns[6].offsets = offsets;
    columns[6].bytes = bytes;
    mrd_sink sink = mrd__buf_sink(out);
    mrd__arrow_kv metadata[] = {{"a", MRD__STR("1")}, {"clock", MRD__STR("BOOTTIME")}};
    mrd__arrow_dict dict = {3, color, NULL};
    mrd__arrow_writer *w = file ? mrd__arrow_writer_create_file(fields, FIELDS, metadata, 2, &sink)
                                : mrd__arrow_writer_create(fields, FIELDS, metadata, 2, &sink);
    assert_int_equal(mrd__arrow_writer_dictionary(w, 7, &dict, NULL), MRD_OK);
    for (size_t i = 0; i < batches; i++)
        assert_int_equal(mrd__arrow_writer_batch(w, columns, ROWS, NULL), MRD_OK);
    assert_int_equal(mrd__arrow_writer_finish(w, NULL), MRD_OK);
    mrd__arrow_writer_destroy(&w);
}

static void write_stream(mrd__buf *out, size_t batches)
{
    write_arrow(out, batches, false);
}

static void check_numbers(const mrd__arrow_in_column *c, size_t row)
{
    double number;
    int64_t whole;
    bool null = row == 1 || row == 9;
    assert_int_equal(mrd__arrow_get_double(&c[0], row, &number), !null);
    if (!null) assert_true(number == f64[row]);
    assert_int_equal(mrd__arrow_get_int(&c[1], row, &whole), !null);
    if (!null) assert_int_equal(whole, i64[row]);
    assert_int_equal(mrd__arrow_get_int(&c[2], row, &whole), row != 1); /* beyond int64 */
    assert_true(mrd__arrow_get_double(&c[2], row, &number) && number == (double)u64[row]);
    assert_true(mrd__arrow_get_int(&c[3], row, &whole) && whole == i32[row]);
    assert_true(mrd__arrow_get_int(&c[4], row, &whole) && whole == u8[row]);
    assert_int_equal(mrd__arrow_get_int(&c[5], row, &whole), !null);
    if (!null) assert_int_equal(whole, bits[row / 8] >> (row % 8) & 1);
    assert_true(mrd__arrow_get_int(&c[8], row, &whole) && whole == u16[row]);
    assert_false(mrd__arrow_get_int(&c[0], row, &whole));
    assert_false(mrd__arrow_get_double(&c[6], row, &number));
}

static void check_texts(const mrd__arrow_in_column *c, size_t row)
{
    mrd__str text;
    size_t index;
    bool null = row == 1 || row == 9;
    assert_int_equal(mrd__arrow_is_valid(&c[6], row), !null);
    assert_int_equal(mrd__arrow_get_text(&c[6], row, &text), !null);
    if (!null) {
        size_t size = (size_t)(offsets[row + 1] - offsets[row]);
        assert_true(mrd__str_equal(text, (mrd__str){bytes + offsets[row], size}));
    }
    assert_int_equal(mrd__arrow_get_text(&c[7], row, &text), !null);
    if (!null) assert_true(mrd__str_equal(text, color(NULL, (size_t)colors[row])));
    assert_int_equal(mrd__arrow_get_index(&c[7], row, &index), !null);
    if (!null) assert_int_equal(index, colors[row]);
    assert_false(mrd__arrow_get_text(&c[3], row, &text));
    assert_false(mrd__arrow_get_index(&c[6], row, &index));
}

static void round_trip(bool file)
{
    mrd__buf data = {0};
    mrd_error error = {0};
    write_arrow(&data, 3, file);
    assert_true(mrd__arrow_sniff(data.data, data.size));
    assert_true(mrd__arrow_sniff(data.data, 64));
    mrd__arrow_reader *r = NULL;
    assert_int_equal(mrd__arrow_reader_open(data.data, data.size, &r, &error), MRD_OK);
    assert_int_equal(mrd__arrow_reader_field_count(r), FIELDS);
    for (size_t i = 0; i < FIELDS; i++) {
        const mrd__arrow_in_field *field = mrd__arrow_reader_field(r, i);
        assert_true(mrd__str_is(field->name, fields[i].name));
        assert_int_equal(field->nullable, fields[i].nullable);
        assert_int_equal(field->dictionary, i == 7);
    }
    assert_int_equal(mrd__arrow_reader_field(r, 6)->kind, MRD__ARROW_KIND_TEXT);
    assert_int_equal(mrd__arrow_reader_field(r, 5)->kind, MRD__ARROW_KIND_BOOL);
    assert_true(mrd__str_is(mrd__arrow_reader_metadata(r, "clock"), "BOOTTIME"));
    assert_int_equal(mrd__arrow_reader_metadata(r, "none").size, 0);
    assert_false(mrd__arrow_reader_cut(r));
    size_t batches = 0;
    for (;;) {
        mrd__arrow_in_batch batch;
        bool more;
        assert_int_equal(mrd__arrow_reader_next(r, &batch, &more, &error), MRD_OK);
        if (!more) break;
        batches++;
        assert_int_equal(batch.rows, ROWS);
        for (size_t row = 0; row < ROWS; row++) {
            check_numbers(batch.columns, row);
            check_texts(batch.columns, row);
        }
    }
    assert_int_equal(batches, 3);
    mrd__arrow_reader_close(&r);
    assert_null(r);
    mrd__arrow_reader_close(&r);
    mrd__buf_reset(&data);
}

static void test_round_trip(void **state)
{
    (void)state;
    round_trip(false);
    round_trip(true);
}

/* Every cell of every batch is looked at. Returns the rows read before the end or the error. */
static size_t read_everything(const char *text, size_t size, mrd_status *status)
{
    char *copy = mrd__alloc(size); /* of exactly its size: address checkers see a read too far */
    if (size > 0) memcpy(copy, text, size);
    size_t rows = 0;
    mrd__arrow_sniff(copy, size);
    mrd__arrow_reader *r = NULL;
    mrd_error error = {0};
    *status = mrd__arrow_reader_open(copy, size, &r, &error);
    bool more = *status == MRD_OK;
    while (more) {
        mrd__arrow_in_batch batch;
        *status = mrd__arrow_reader_next(r, &batch, &more, &error);
        if (*status != MRD_OK || !more) break;
        for (size_t i = 0; i < mrd__arrow_reader_field_count(r); i++) {
            for (size_t row = 0; row < batch.rows && row < 100; row++) {
                int64_t whole;
                double number;
                mrd__str word = {NULL, 0};
                mrd__arrow_get_int(&batch.columns[i], row, &whole);
                mrd__arrow_get_double(&batch.columns[i], row, &number);
                if (mrd__arrow_get_text(&batch.columns[i], row, &word))
                    mrd__hash(word.data, word.size);
            }
        }
        rows += batch.rows;
    }
    if (*status != MRD_OK) {
        assert_int_equal(error.status, *status);
        assert_true(error.message[0] != '\0' && error.offset >= 0);
    }
    mrd__arrow_reader_close(&r);
    mrd__free(copy);
    return rows;
}

/* Cut anywhere: the batches that are whole are read, the rest is an error unless the cut falls
 * between two messages. */
static void test_truncated(void **state)
{
    (void)state;
    mrd__buf data = {0};
    write_stream(&data, 2);
    size_t good = 0;
    size_t before = 0;
    for (size_t cut = 0; cut <= data.size; cut++) {
        mrd_status status;
        size_t rows = read_everything(data.data, cut, &status);
        assert_true(rows >= before && rows % ROWS == 0);
        before = rows;
        good += status == MRD_OK;
    }
    assert_int_equal(before, 2 * ROWS);
    assert_int_equal(good, 5); /* after schema, dictionary, both batches, the end marker */
    mrd__buf_reset(&data);
}

/* A file that has lost its end is read as the stream in it, and says so. */
static void test_cut_file(void **state)
{
    (void)state;
    mrd__buf data = {0};
    write_arrow(&data, 2, true);
    for (size_t cut = 600; cut <= data.size; cut++) {
        mrd__arrow_reader *r = NULL;
        mrd_status status = mrd__arrow_reader_open(data.data, cut, &r, NULL);
        if (status == MRD_OK) assert_int_equal(mrd__arrow_reader_cut(r), cut < data.size);
        mrd__arrow_reader_close(&r);
        size_t rows = read_everything(data.data, cut, &status);
        if (cut + 300 > data.size) assert_int_equal(rows, 2 * ROWS);
    }
    mrd__buf_reset(&data);
}

/* ---- Messages the writer does not make ---- */

static void add_message(mrd__buf *out, const mrd__fb *message)
{
    uint32_t head[2] = {0xffffffff, (uint32_t)message->bytes.size};
    mrd__buf_add(out, head, sizeof head);
    mrd__buf_add(out, message->bytes.data, message->bytes.size);
}

/* One word a dictionary batch; the message is DictionaryBatch with isDelta. */
static void add_word(mrd__buf *out, mrd__fb *fb, const char *word, bool delta)
{
    int32_t ends[2] = {0, (int32_t)strlen(word)};
    char body[16] = {0};
    memcpy(body, ends, 8);
    memcpy(body + 8, word, strlen(word));
    mrd__fb_begin(fb);
    size_t message = mrd__fb_table(fb, "2148");
    mrd__fb_root(fb, message);
    mrd__fb_set(fb, message, 0, 4, 2);
    mrd__fb_set(fb, message, 1, 2, 1);
    mrd__fb_set(fb, message, 3, sizeof body, 8);
    size_t header = mrd__fb_table(fb, "841");
    mrd__fb_link(fb, message, 2, header);
    mrd__fb_set(fb, header, 2, delta, 1);
    size_t batch = mrd__fb_table(fb, "844");
    mrd__fb_link(fb, header, 1, batch);
    mrd__fb_set(fb, batch, 0, 1, 8);
    size_t nodes = mrd__fb_vector(fb, 1, 16);
    mrd__fb_link(fb, batch, 1, nodes);
    mrd__fb_set_pair(fb, nodes, 0, 1, 0);
    size_t buffers = mrd__fb_vector(fb, 3, 16);
    mrd__fb_link(fb, batch, 2, buffers);
    mrd__fb_set_pair(fb, buffers, 1, 0, 8);
    mrd__fb_set_pair(fb, buffers, 2, 8, (int64_t)strlen(word));
    mrd__fb_end(fb);
    add_message(out, fb);
    mrd__buf_add(out, body, sizeof body);
}

static void add_indices(mrd__buf *out, mrd__fb *fb, const char *indices, size_t rows)
{
    mrd__arrow_node node = {(int64_t)rows, 0};
    mrd__arrow_piece pieces[] = {{NULL, 0}, {indices, rows}};
    mrd__arrow_body body = {(int64_t)rows, &node, 1, pieces, 2};
    mrd__arrow_batch_message(fb, &body);
    add_message(out, fb);
    char padded[8] = {0};
    memcpy(padded, indices, rows);
    mrd__buf_add(out, padded, 8);
}

static void expect_words(mrd__arrow_reader *r, const char *want)
{
    mrd__arrow_in_batch batch;
    bool more;
    mrd__buf got = {0};
    assert_int_equal(mrd__arrow_reader_next(r, &batch, &more, NULL), MRD_OK);
    assert_true(more);
    for (size_t row = 0; row < batch.rows; row++) {
        mrd__str text;
        assert_true(mrd__arrow_get_text(&batch.columns[0], row, &text));
        mrd__buf_str(&got, text);
        mrd__buf_char(&got, ' ');
    }
    assert_string_equal(got.data, want);
    mrd__buf_reset(&got);
}

/* A dictionary that grows, one that is replaced, an index beyond it. */
static void test_dictionary_changes(void **state)
{
    (void)state;
    mrd__buf data = {0};
    mrd__fb fb = {0};
    mrd__arrow_field field = {"word", MRD__ARROW_DICT8, false};
    mrd__arrow_schema_message(&fb, &field, 1, NULL, 0);
    add_message(&data, &fb);
    add_word(&data, &fb, "one", false);
    add_indices(&data, &fb, "\0\0", 2);
    add_word(&data, &fb, "two", true);
    add_indices(&data, &fb, "\1\0\1", 3);
    add_word(&data, &fb, "three", false);
    add_indices(&data, &fb, "\0", 1);
    add_indices(&data, &fb, "\1", 1);
    mrd__arrow_reader *r = NULL;
    mrd_error error = {0};
    assert_int_equal(mrd__arrow_reader_open(data.data, data.size, &r, &error), MRD_OK);
    expect_words(r, "one one ");
    expect_words(r, "two one two ");
    expect_words(r, "three ");
    mrd__arrow_in_batch batch;
    bool more;
    assert_int_equal(mrd__arrow_reader_next(r, &batch, &more, &error), MRD_ERR_FORMAT);
    assert_string_equal(error.message, "Arrow data is damaged: an index beyond its dictionary");
    assert_true(error.offset > 0 && (size_t)error.offset < data.size);
    mrd__arrow_reader_close(&r);
    mrd__buf_reset(&data);
    mrd__buf_reset(&fb.bytes);
}

static void mutate(bool file)
{
    mrd__buf data = {0};
    write_arrow(&data, 1, file);
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
    for (size_t at = 0; at < data.size; at++) {
        char kept = data.data[at];
        for (size_t i = 0; i < sizeof values; i++) {
            mrd_status status;
            data.data[at] = (char)values[i];
            read_everything(data.data, data.size, &status);
            data.data[at] = (char)(kept ^ (1 << i));
            read_everything(data.data, data.size, &status);
        }
        data.data[at] = kept;
    }
    mrd__rng rng = {99};
    for (int round = 0; round < 20000; round++) {
        mrd__buf copy = {0};
        mrd_status status;
        mrd__buf_add(&copy, data.data, data.size);
        for (uint64_t n = 1 + mrd__rng_below(&rng, 4); n > 0; n--)
            copy.data[mrd__rng_below(&rng, copy.size)] = (char)mrd__rng_next(&rng);
        read_everything(copy.data, copy.size, &status);
        mrd__buf_reset(&copy);
    }
    mrd__buf_reset(&data);
}

static void test_mutated(void **state)
{
    (void)state;
    mutate(false);
    mutate(true);
}

static void test_not_arrow(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",     "A",          "ARROW1",           "{\"traceEvents\":[]}",
        "PAR1", "ARROW1\0\0", "\xff\xff\xff\xff", "\x10\0\0\0"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        mrd_status status;
        size_t size = i == 5 ? 8 : i == 7 ? 4 : strlen(texts[i]);
        assert_int_equal(read_everything(texts[i], size, &status), 0);
        assert_int_equal(status, MRD_ERR_FORMAT);
    }
    char noise[256];
    mrd__rng rng = {3};
    for (int round = 0; round < 1000; round++) {
        for (size_t i = 0; i < sizeof noise; i++)
            noise[i] = (char)mrd__rng_next(&rng);
        assert_false(mrd__arrow_sniff(noise, sizeof noise));
    }
    assert_false(mrd__arrow_sniff("", 0));
}

/* A file and a stream of another implementation: report 49. */
static void check_report(const char *name)
{
    static const int64_t ts[] = {-1, 0, 9007199254740993, 1731415926535897932, -1000000001};
    static const int64_t dur[] = {1, 0, 3, 4, 5};
    mrd__buf path = {0};
    mrd__buf_printf(&path, MRD_SOURCE_DIR "/../shared/cases/reports/49-arrow-int64-and-negative/%s",
                    name);
    if (!mrd__file_exists(path.data)) {
        mrd__buf_reset(&path);
        skip();
    }
    mrd__map map;
    mrd_error error = {0};
    assert_int_equal(mrd__map_open(&map, path.data, &error), MRD_OK);
    assert_true(mrd__arrow_sniff(map.data, map.size));
    mrd__arrow_reader *r = NULL;
    assert_int_equal(mrd__arrow_reader_open(map.data, map.size, &r, &error), MRD_OK);
    assert_false(mrd__arrow_reader_cut(r));
    mrd__arrow_in_batch batch;
    bool more;
    assert_int_equal(mrd__arrow_reader_next(r, &batch, &more, &error), MRD_OK);
    assert_true(more);
    assert_int_equal(batch.rows, 5);
    assert_int_equal(batch.columns[1].words.count, 3);
    for (size_t row = 0; row < 5; row++) {
        int64_t value = 0;
        mrd__str text;
        assert_true(mrd__arrow_get_int(&batch.columns[0], row, &value) && value == ts[row]);
        assert_true(mrd__arrow_get_text(&batch.columns[1], row, &text));
        assert_int_equal(text.data[0], "abaca"[row]);
        assert_int_equal(mrd__arrow_get_int(&batch.columns[2], row, &value), row != 1);
        if (row != 1) assert_int_equal(value, dur[row]);
    }
    assert_int_equal(mrd__arrow_reader_next(r, &batch, &more, &error), MRD_OK);
    assert_false(more);
    mrd__arrow_reader_close(&r);
    /* Cut anywhere, and each byte changed: never more than an error. */
    for (size_t cut = 0; cut < map.size; cut++) {
        mrd_status status;
        read_everything(map.data, cut, &status);
        char *copy = mrd__strndup(map.data, map.size);
        copy[cut] = (char)~copy[cut];
        read_everything(copy, map.size, &status);
        mrd__free(copy);
    }
    mrd__map_close(&map);
    mrd__buf_reset(&path);
}

static void test_report_file(void **state)
{
    (void)state;
    check_report("trace.arrow");
}

static void test_report_stream(void **state)
{
    (void)state;
    check_report("trace.stream");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_file),    cmocka_unit_test(test_dictionary_changes),
        cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_mutated),     cmocka_unit_test(test_not_arrow),
        cmocka_unit_test(test_report_file), cmocka_unit_test(test_report_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
