/* Writes Arrow streams (NAME.arrows), the same as files (NAME.arrow), and what a reader must find
 * in both (NAME.json):
 *   {"metadata": {...}, "fields": [{"name", "type", "nullable"}], "rows": n,
 *    "batches": [rows of each], "columns": [[...]]}
 * Integers of 64 bits stand as strings; NaN and infinities too. usage: arrow_samples FOLDER */
#include "arrow/arrow.h"
#include "base/alloc.h"
#include "base/os.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FIELDS_MAX 16

typedef struct sample {
    const char *name;
    size_t field_count;
    mrd__arrow_field fields[FIELDS_MAX];
    mrd__arrow_column columns[FIELDS_MAX];
    const char *const *words[FIELDS_MAX]; /* NULL: numbered words */
    size_t word_counts[FIELDS_MAX];
    size_t rows;
    size_t batches; /* the rows are given in that many calls */
    mrd__arrow_kv metadata[4];
    size_t metadata_count;
} sample;

static mrd__str given_word(const void *ctx, size_t index)
{
    const char *const *words = ctx;
    return mrd__str_of(words[index]);
}

/* Words of a large dictionary: "word-<index>" with a length that varies. */
static mrd__str numbered_word(const void *ctx, size_t index)
{
    static char text[64];
    (void)ctx;
    int size = snprintf(text, sizeof text, "word-%zu%.*s", index, (int)(index % 20),
                        "____________________");
    return (mrd__str){text, (size_t)size};
}

static mrd__arrow_dict dict_of(const sample *s, size_t field)
{
    if (s->words[field] == NULL)
        return (mrd__arrow_dict){s->word_counts[field], numbered_word, NULL};
    return (mrd__arrow_dict){s->word_counts[field], given_word, s->words[field]};
}

static const char *const type_names[] = {"float64", "int64", "uint64", "int32", "uint32", "uint16",
                                         "uint8",   "bool",  "utf8",   "dict8", "dict16", "dict32"};

static bool is_null(const mrd__arrow_column *column, size_t row)
{
    return column->validity != NULL && !(column->validity[row / 8] >> (row % 8) & 1);
}

static void expect_word(mrd__buf *out, const sample *s, size_t field, int64_t index)
{
    mrd__arrow_dict dict = dict_of(s, field);
    mrd__buf_json_string(out, dict.get(dict.ctx, (size_t)index));
}

static void quoted_int(mrd__buf *out, int64_t value, bool is_signed)
{
    mrd__buf_char(out, '"');
    if (is_signed)
        mrd__buf_int(out, value);
    else
        mrd__buf_uint(out, (uint64_t)value);
    mrd__buf_char(out, '"');
}

static void expect_value(mrd__buf *out, const sample *s, size_t field, size_t row)
{
    const mrd__arrow_column *c = &s->columns[field];
    switch (s->fields[field].type) {
    case MRD__ARROW_FLOAT64:
        mrd__buf_json_double(out, ((const double *)c->data)[row]);
        break;
    case MRD__ARROW_INT64:
    case MRD__ARROW_UINT64:
        quoted_int(out, ((const int64_t *)c->data)[row], s->fields[field].type == MRD__ARROW_INT64);
        break;
    case MRD__ARROW_INT32:
        mrd__buf_int(out, ((const int32_t *)c->data)[row]);
        break;
    case MRD__ARROW_UINT32:
        mrd__buf_uint(out, ((const uint32_t *)c->data)[row]);
        break;
    case MRD__ARROW_UINT16:
        mrd__buf_uint(out, ((const uint16_t *)c->data)[row]);
        break;
    case MRD__ARROW_UINT8:
        mrd__buf_uint(out, ((const uint8_t *)c->data)[row]);
        break;
    case MRD__ARROW_BOOL:
        mrd__buf_text(out, ((const uint8_t *)c->data)[row / 8] >> (row % 8) & 1 ? "true" : "false");
        break;
    case MRD__ARROW_UTF8:
        mrd__buf_json_string(out, (mrd__str){c->bytes + c->offsets[row],
                                             (size_t)(c->offsets[row + 1] - c->offsets[row])});
        break;
    case MRD__ARROW_DICT8:
        expect_word(out, s, field, ((const int8_t *)c->data)[row]);
        break;
    case MRD__ARROW_DICT16:
        expect_word(out, s, field, ((const int16_t *)c->data)[row]);
        break;
    case MRD__ARROW_DICT32:
        expect_word(out, s, field, ((const int32_t *)c->data)[row]);
        break;
    }
}

static size_t rows_of_a_call(const sample *s)
{
    return s->batches > 0 ? (s->rows / s->batches + 7) / 8 * 8 : 0;
}

static void expected_batches(mrd__buf *out, const sample *s)
{
    mrd__buf_text(out, "\"batches\": [");
    if (s->rows == 0) mrd__buf_char(out, '0');
    size_t step = rows_of_a_call(s);
    for (size_t from = 0; from < s->rows; from += step) {
        size_t left = s->rows - from < step ? s->rows - from : step;
        for (; left > 0; left -= left < 65536 ? left : 65536)
            mrd__buf_printf(out, "%s%zu", out->data[out->size - 1] == '[' ? "" : ",",
                            left < 65536 ? left : 65536);
    }
    mrd__buf_char(out, ']');
}

static void expectation(mrd__buf *out, const sample *s)
{
    mrd__buf_text(out, "{\"metadata\": {");
    for (size_t i = 0; i < s->metadata_count; i++) {
        if (i > 0) mrd__buf_char(out, ',');
        mrd__buf_json_string(out, mrd__str_of(s->metadata[i].key));
        mrd__buf_char(out, ':');
        mrd__buf_json_string(out, s->metadata[i].value);
    }
    mrd__buf_text(out, "}, \"fields\": [");
    for (size_t i = 0; i < s->field_count; i++) {
        mrd__buf_printf(out, "%s{\"name\":", i > 0 ? "," : "");
        mrd__buf_json_string(out, mrd__str_of(s->fields[i].name));
        mrd__buf_printf(out, ",\"type\":\"%s\",\"nullable\":%s}", type_names[s->fields[i].type],
                        s->fields[i].nullable ? "true" : "false");
    }
    mrd__buf_printf(out, "], \"rows\": %zu, ", s->rows);
    expected_batches(out, s);
    mrd__buf_text(out, ", \"columns\": [");
    for (size_t i = 0; i < s->field_count; i++) {
        mrd__buf_text(out, i > 0 ? ",\n[" : "\n[");
        for (size_t row = 0; row < s->rows; row++) {
            if (row > 0) mrd__buf_char(out, ',');
            if (is_null(&s->columns[i], row))
                mrd__buf_text(out, "null");
            else
                expect_value(out, s, i, row);
        }
        mrd__buf_char(out, ']');
    }
    mrd__buf_text(out, "]}\n");
}

/* Columns of a later call: a whole number of bytes of bits further on. */
static mrd__arrow_column further(mrd__arrow_type type, mrd__arrow_column c, size_t rows)
{
    static const size_t widths[] = {8, 8, 8, 4, 4, 2, 1, 0, 0, 1, 2, 4};
    if (c.data != NULL)
        c.data = (const char *)c.data + (type == MRD__ARROW_BOOL ? rows / 8 : rows * widths[type]);
    if (c.validity != NULL) c.validity += rows / 8;
    if (c.offsets != NULL) c.offsets += rows;
    return c;
}

static mrd_status stream(mrd__buf *out, const sample *s, bool file, mrd_error *error)
{
    mrd_sink sink = mrd__buf_sink(out);
    mrd__arrow_writer *writer =
        file ? mrd__arrow_writer_create_file(s->fields, s->field_count, s->metadata,
                                             s->metadata_count, &sink)
             : mrd__arrow_writer_create(s->fields, s->field_count, s->metadata, s->metadata_count,
                                        &sink);
    mrd_status status = MRD_OK;
    for (size_t i = 0; i < s->field_count && status == MRD_OK; i++) {
        if (s->fields[i].type < MRD__ARROW_DICT8) continue;
        mrd__arrow_dict dict = dict_of(s, i);
        status = mrd__arrow_writer_dictionary(writer, i, &dict, error);
    }
    size_t step = rows_of_a_call(s);
    for (size_t from = 0; from < s->rows && status == MRD_OK; from += step) {
        mrd__arrow_column columns[FIELDS_MAX];
        for (size_t i = 0; i < s->field_count; i++)
            columns[i] = further(s->fields[i].type, s->columns[i], from);
        size_t rows = s->rows - from < step ? s->rows - from : step;
        status = mrd__arrow_writer_batch(writer, columns, rows, error);
    }
    if (status == MRD_OK) status = mrd__arrow_writer_finish(writer, error);
    mrd__arrow_writer_destroy(&writer);
    return status;
}

static int write_sample(const char *folder, const sample *s)
{
    mrd_error error = {0};
    mrd__buf bytes = {0};
    mrd__buf expected = {0};
    mrd__buf path = {0};
    mrd_status status = MRD_OK;
    expectation(&expected, s);
    for (int file = 0; file < 2 && status == MRD_OK; file++) {
        mrd__buf_clear(&bytes);
        mrd__buf_clear(&path);
        status = stream(&bytes, s, file, &error);
        mrd__buf_printf(&path, "%s/%s.arrow%s", folder, s->name, file ? "" : "s");
        if (status == MRD_OK)
            status = mrd__file_write_atomic(path.data, bytes.data, bytes.size, &error);
    }
    mrd__buf_clear(&path);
    mrd__buf_printf(&path, "%s/%s.json", folder, s->name);
    if (status == MRD_OK)
        status = mrd__file_write_atomic(path.data, expected.data, expected.size, &error);
    if (status != MRD_OK) fprintf(stderr, "%s: %s\n", s->name, error.message);
    mrd__buf_reset(&bytes);
    mrd__buf_reset(&expected);
    mrd__buf_reset(&path);
    return status != MRD_OK;
}

/* ---- The samples ---- */

static const char *const few_words[] = {"alpha", "", "gamma"};
static const char *const unicode_words[] = {"\xe8\xae\xa1\xe7\xae\x97", "\xf0\x9f\x98\x80 smile",
                                            "\xc3\xa9t\xc3\xa9", "a\"b\\c\nd",
                                            "\xd0\xbf\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82"};

static int all_types(const char *folder, const char *name, bool nulls)
{
    static const double f64[] = {0, -0.0, 1.5, NAN, INFINITY, -INFINITY, 5e-324, 0.1, -1e308};
    static const int64_t i64[] = {0, -1, INT64_MAX, INT64_MIN, 9007199254740993, 5, 6, 7, 8};
    static const uint64_t u64[] = {0, 1, UINT64_MAX, 9007199254740993u, 4, 5, 6, 7, 8};
    static const int32_t i32[] = {0, -1, INT32_MAX, INT32_MIN, 4, 5, 6, 7, 8};
    static const uint32_t u32[] = {0, 1, UINT32_MAX, 3, 4, 5, 6, 7, 8};
    static const uint16_t u16[] = {0, 1, UINT16_MAX, 3, 4, 5, 6, 7, 8};
    static const uint8_t u8[] = {0, 1, 255, 3, 4, 5, 6, 7, 8};
    static const uint8_t bits[] = {0x95, 0x01};
    static const int32_t offsets[] = {0, 1, 1, 4, 8, 9, 9, 12, 13, 14};
    static const char bytes[] = "a\xe4\xb8\xad\xf0\x9f\x98\x80"
                                "bcdefg";
    static const int8_t d8[] = {0, 1, 2, 2, 1, 0, 0, 1, 2};
    static const int16_t d16[] = {4, 3, 2, 1, 0, 0, 1, 2, 3};
    static const int32_t d32[] = {2, 2, 2, 1, 1, 1, 0, 0, 0};
    static const uint8_t valid[][2] = {{0xfe, 0x01}, {0x00, 0x00}, {0xff, 0x00}, {0xff, 0xff},
                                       {0x55, 0x01}, {0xaa, 0xfe}, {0x0f, 0x00}, {0xf0, 0x01},
                                       {0x3c, 0x01}, {0xfd, 0x00}, {0x7f, 0x01}, {0x01, 0x00}};
    sample s = {.name = name, .field_count = 12, .rows = 9, .batches = 1};
    const void *data[] = {f64, i64, u64, i32, u32, u16, u8, bits, NULL, d8, d16, d32};
    for (size_t i = 0; i < 12; i++) {
        s.fields[i] = (mrd__arrow_field){type_names[i], (mrd__arrow_type)i, nulls};
        s.columns[i] = (mrd__arrow_column){.data = data[i], .validity = nulls ? valid[i] : NULL};
    }
    s.columns[8].offsets = offsets;
    s.columns[8].bytes = bytes;
    s.words[9] = few_words;
    s.word_counts[9] = 3;
    s.words[10] = unicode_words;
    s.word_counts[10] = 5;
    s.words[11] = few_words;
    s.word_counts[11] = 3;
    s.metadata[0] = (mrd__arrow_kv){"trace_bounds", MRD__STR("{\"start_ns\": 0, \"events\": 9}")};
    s.metadata[1] = (mrd__arrow_kv){"empty", MRD__STR("")};
    s.metadata[2] = (mrd__arrow_kv){"unicode \xe4\xb8\xad", MRD__STR("\xf0\x9f\x98\x80\n\"q\"")};
    s.metadata_count = 3;
    return write_sample(folder, &s);
}

static const mrd__arrow_field raw_fields[] = {{"time_ns", MRD__ARROW_FLOAT64, false},
                                              {"category", MRD__ARROW_DICT8, false},
                                              {"component", MRD__ARROW_DICT32, false},
                                              {"value", MRD__ARROW_FLOAT64, false},
                                              {"detail_json", MRD__ARROW_UTF8, true}};

static int empty(const char *folder, const char *name, size_t words)
{
    sample s = {.name = name, .field_count = 5};
    memcpy(s.fields, raw_fields, sizeof raw_fields);
    s.words[1] = few_words;
    s.words[2] = unicode_words;
    s.word_counts[1] = words > 3 ? 3 : words;
    s.word_counts[2] = words;
    s.metadata[0] = (mrd__arrow_kv){"trace_anomalies", MRD__STR("[]")};
    s.metadata_count = 1;
    return write_sample(folder, &s);
}

/* More rows than a record batch holds, all kinds of buffers, nulls, strings of all lengths. */
static int many_rows(const char *folder, const char *name, size_t rows, size_t batches,
                     size_t words)
{
    mrd__rng rng = {rows};
    double *time = mrd__new_array(double, rows);
    int8_t *category = mrd__new_array(int8_t, rows);
    int32_t *component = mrd__new_array(int32_t, rows);
    int64_t *value = mrd__new_array(int64_t, rows);
    uint8_t *bits = mrd__new_array(uint8_t, rows / 8 + 1);
    uint8_t *valid = mrd__new_array(uint8_t, rows / 8 + 1);
    int32_t *offsets = mrd__new_array(int32_t, rows + 1);
    mrd__buf bytes = {0};
    for (size_t i = 0; i < rows; i++) {
        time[i] = (double)i * 1.25;
        category[i] = (int8_t)mrd__rng_below(&rng, 3);
        component[i] = (int32_t)mrd__rng_below(&rng, words);
        value[i] = (int64_t)mrd__rng_next(&rng);
        if (mrd__rng_below(&rng, 3) > 0) valid[i / 8] |= (uint8_t)(1u << (i % 8));
        bits[i / 8] |= (uint8_t)(mrd__rng_below(&rng, 2) << (i % 8));
        mrd__buf_printf(&bytes, "%.*s", (int)(i % 7), "{\"i\":1}");
        offsets[i + 1] = (int32_t)bytes.size;
    }
    sample s = {.name = name, .field_count = 7, .rows = rows, .batches = batches};
    memcpy(s.fields, raw_fields, sizeof raw_fields);
    s.fields[3].type = MRD__ARROW_INT64;
    s.fields[3].nullable = true;
    s.fields[5] = (mrd__arrow_field){"flag", MRD__ARROW_BOOL, true};
    s.fields[6] = (mrd__arrow_field){"other", MRD__ARROW_DICT32, true};
    s.columns[0].data = time;
    s.columns[1].data = category;
    s.columns[2].data = component;
    s.columns[3] = (mrd__arrow_column){.data = value, .validity = valid};
    s.columns[4] = (mrd__arrow_column){.validity = valid, .offsets = offsets, .bytes = bytes.data};
    s.columns[5] = (mrd__arrow_column){.data = bits, .validity = valid};
    s.columns[6] = (mrd__arrow_column){.data = component, .validity = valid};
    s.words[1] = few_words;
    s.word_counts[1] = 3;
    s.word_counts[2] = words;
    s.word_counts[6] = words;
    int bad = write_sample(folder, &s);
    mrd__free(time);
    mrd__free(category);
    mrd__free(component);
    mrd__free(value);
    mrd__free(bits);
    mrd__free(valid);
    mrd__free(offsets);
    mrd__buf_reset(&bytes);
    return bad;
}

/* int64 beyond 2^53 and negative: seen to change their value in browsers. */
static int int64_and_negative(const char *folder)
{
    static const char *const names[] = {"a", "b", "c"};
    static const int64_t ts[] = {-1, 0, 9007199254740993, 1731415926535897932, -1000000001};
    static const int8_t name[] = {0, 1, 0, 2, 0};
    static const int64_t dur[] = {1, 0, 3, 4, 5};
    static const uint8_t valid[] = {0x1d};
    sample s = {.name = "int64-and-negative", .field_count = 3, .rows = 5, .batches = 1};
    s.fields[0] = (mrd__arrow_field){"ts", MRD__ARROW_INT64, false};
    s.fields[1] = (mrd__arrow_field){"name", MRD__ARROW_DICT8, false};
    s.fields[2] = (mrd__arrow_field){"dur", MRD__ARROW_INT64, true};
    s.columns[0].data = ts;
    s.columns[1].data = name;
    s.columns[2] = (mrd__arrow_column){.data = dur, .validity = valid};
    s.words[1] = names;
    s.word_counts[1] = 3;
    return write_sample(folder, &s);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: arrow_samples FOLDER\n");
        return 2;
    }
    const char *folder = argv[1];
    int bad = all_types(folder, "all-types", false);
    bad += all_types(folder, "nulls", true);
    bad += empty(folder, "empty-words", 3);
    bad += empty(folder, "empty", 0);
    bad += many_rows(folder, "many-rows", 150001, 1, 100);
    bad += many_rows(folder, "exact-batch", 65536, 1, 2);
    bad += many_rows(folder, "several-batches", 2000, 5, 10);
    bad += many_rows(folder, "large-dictionary", 70000, 1, 100000);
    bad += int64_and_negative(folder);
    return bad > 0;
}
