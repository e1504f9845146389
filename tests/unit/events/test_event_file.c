/* Event Parquet written and read back, files of other writers (as DuckDB can write them in every
 * form), and every refusal with its row and value. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/os.h"
#include "duck/duck.h"
#include "events/event_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static const char *path_of(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* ---- What was read, in file order ---- */

typedef struct row {
    double time, value;
    uint8_t category;
    uint32_t component;
    bool has_detail;
    char detail[64];
} row;

typedef struct seen {
    struct {
        row *data;
        size_t count;
    } rows;
    _Atomic uint64_t inexact;
} seen;

static mrd_status begin(void *ctx, uint64_t rows, mrd_error *error)
{
    (void)error;
    seen *s = ctx;
    s->rows.count = rows;
    s->rows.data = mrd__new_array(row, rows + 1);
    return MRD_OK;
}

/* Batches come on several threads; each has rows of its own. */
static void keep(void *ctx, const mrd__event_batch *batch)
{
    seen *s = ctx;
    mrd__assert(batch->worker < MRD__EVENT_WORKERS);
    mrd__assert(batch->first_row + batch->rows <= s->rows.count);
    for (size_t i = 0; i < batch->rows; i++) {
        row r = {.time = batch->time[i],
                 .value = batch->value[i],
                 .category = batch->category[i],
                 .component = batch->component[i]};
        if (batch->detail && batch->detail[i].data) {
            r.has_detail = true;
            snprintf(r.detail, sizeof r.detail, "%.*s", (int)batch->detail[i].size,
                     batch->detail[i].data);
        }
        s->rows.data[batch->first_row + i] = r;
    }
    s->inexact += batch->inexact;
}

static void seen_reset(seen *s)
{
    mrd__free(s->rows.data);
    s->rows.data = NULL;
}

static mrd_status read_file(const char *path, seen *s, mrd__event_info *info, mrd_error *error)
{
    *s = (seen){0};
    mrd__event_sink sink = {.ctx = s, .begin = begin, .batch = keep};
    return mrd__event_read(path, 2, &sink, info, error);
}

/* ---- Round trip ---- */

#define ROWS 200000

static mrd__event_record record_of(uint64_t i, char *detail)
{
    static const char *const names[] = {"link_0_1_req", "cdma_chip10_unit1_t2", "x",
                                        "flow_0_1 \xe4\xb8\xad\xe6\x96\x87"};
    mrd__event_record record = {
        .time_ns = (double)(i / 3) * 0.1,
        .value = (double)i / 7,
        .category = (uint8_t)(i % MRD__EV_COUNT),
        .component = mrd__str_of(names[i % 4]),
    };
    if (i % 2)
        record.detail = (mrd__str){detail, (size_t)snprintf(detail, 40, "{\"i\":%d}", (int)i)};
    if (i % 16 == 8) record.detail = MRD__STR("");
    return record;
}

static char details[2048][40];

static mrd_status make(void *ctx, mrd__event_record *records, size_t max, size_t *count,
                       mrd_error *error)
{
    (void)error;
    uint64_t *next = ctx;
    for (*count = 0; *count < max && *next < ROWS; ++*count)
        records[*count] = record_of((*next)++, details[*count]);
    return MRD_OK;
}

static void round_trip(void **state)
{
    (void)state;
    uint64_t next = 0;
    mrd__event_source source = {.ctx = &next, .next = make, .sim_end_ns = 1e7 + 0.25};
    mrd_error error = {0};
    const char *path = path_of("it's [a] *.parquet");
    if (mrd__event_write(path, &source, &error) != MRD_OK) fail_msg("%s", error.message);
    seen s;
    mrd__event_info info;
    if (read_file(path, &s, &info, &error) != MRD_OK) fail_msg("%s", error.message);
    assert_int_equal(info.rows, ROWS);
    assert_int_equal(s.rows.count, ROWS);
    assert_true(info.has_sim_end && info.sim_end_ns == 1e7 + 0.25);
    assert_int_equal(info.component_count, 4);
    for (uint64_t i = 0; i < ROWS; i++) {
        char detail[40];
        mrd__event_record want = record_of(i, detail);
        const row *got = &s.rows.data[i];
        assert_true(got->time == want.time_ns && got->value == want.value);
        assert_int_equal(got->category, want.category);
        assert_true(mrd__str_equal(info.components[got->component], want.component));
        assert_int_equal(got->has_detail, want.detail.data != NULL);
        if (got->has_detail) assert_true(mrd__str_is(want.detail, got->detail));
    }
    mrd__event_info_reset(&info);
    seen_reset(&s);
}

static mrd_status fail_late(void *ctx, mrd__event_record *records, size_t max, size_t *count,
                            mrd_error *error)
{
    uint64_t *next = ctx;
    if (*next > ROWS / 2) return mrd__fail(error, MRD_ERR_CANCELLED, "late", "too late");
    return make(ctx, records, max, count, error);
}

static size_t files_in_folder(void)
{
    DIR *dir = opendir(folder);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

/* A failed writing leaves what was there, and nothing else. */
static void failed_writing_changes_nothing(void **state)
{
    (void)state;
    mrd_error error = {0};
    uint64_t next = 0;
    mrd__event_source source = {.ctx = &next, .next = make, .sim_end_ns = 1};
    assert_int_equal(mrd__event_write(path_of("kept.parquet"), &source, &error), MRD_OK);
    size_t before = files_in_folder();
    next = 0;
    source.next = fail_late;
    assert_int_equal(mrd__event_write(path_of("kept.parquet"), &source, &error), MRD_ERR_CANCELLED);
    assert_string_equal(error.code, "late");
    assert_int_equal(files_in_folder(), before);
    seen s;
    mrd__event_info info;
    assert_int_equal(read_file(path_of("kept.parquet"), &s, &info, &error), MRD_OK);
    assert_int_equal(info.rows, ROWS);
    mrd__event_info_reset(&info);
    seen_reset(&s);
    assert_int_equal(mrd__event_write(path_of("no/such/folder.parquet"), &source, &error),
                     MRD_ERR_NOT_FOUND);
}

/* ---- Other writers ---- */

/* Writes SELECT ... with COPY options. */
static void copy_to(const char *path, const char *select, const char *options)
{
    mrd__duck *duck = NULL;
    mrd_error error = {0};
    assert_int_equal(mrd__duck_open(&duck, 2, &error), MRD_OK);
    mrd__buf sql = {0};
    mrd__buf_printf(&sql, "COPY (%s) TO '%s' (FORMAT parquet%s)", select, path, options);
    if (mrd__duck_run(duck, sql.data, &error) != MRD_OK) fail_msg("%s", error.message);
    mrd__buf_reset(&sql);
    mrd__duck_close(&duck);
}

#define ALL_CATEGORIES                                                                             \
    "['link_busy', 'link_idle', 'thread_blocked', 'thread_unblocked', 'ostd_change', "             \
    "'hop_arrive']"
#define USUAL                                                                                      \
    "SELECT CAST(i AS DOUBLE) AS time_ns, " ALL_CATEGORIES "[i % 6 + 1] AS category, "             \
    "'component number ' || (i % 10) AS component, i / 4.0 AS value, "                             \
    "CASE WHEN i % 2 = 0 THEN '{\"i\":' || i || '}' END AS detail_json FROM range(70000) t(i)"

static void check_usual(const char *options)
{
    copy_to(path_of("other.parquet"), USUAL, options);
    seen s;
    mrd__event_info info;
    mrd_error error = {0};
    if (read_file(path_of("other.parquet"), &s, &info, &error) != MRD_OK)
        fail_msg("%s: %s", options, error.message);
    assert_int_equal(s.rows.count, 70000);
    assert_false(info.has_sim_end);
    for (size_t i = 0; i < s.rows.count; i++) {
        char name[40], detail[40];
        snprintf(name, sizeof name, "component number %zu", i % 10);
        snprintf(detail, sizeof detail, "{\"i\":%zu}", i);
        assert_true(s.rows.data[i].time == (double)i && s.rows.data[i].value == (double)i / 4);
        assert_int_equal(s.rows.data[i].category, i % 6);
        assert_true(mrd__str_is(info.components[s.rows.data[i].component], name));
        assert_int_equal(s.rows.data[i].has_detail, i % 2 == 0);
        if (i % 2 == 0) assert_string_equal(s.rows.data[i].detail, detail);
    }
    mrd__event_info_reset(&info);
    seen_reset(&s);
}

static void every_codec_and_page(void **state)
{
    (void)state;
    static const char *const codecs[] = {"uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4"};
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        for (int version = 1; version <= 2; version++) {
            char options[160];
            snprintf(options, sizeof options,
                     ", CODEC %s, PARQUET_VERSION V%d, ROW_GROUP_SIZE 10000", codecs[i], version);
            check_usual(options);
        }
    }
    check_usual(", DICTIONARY_SIZE_LIMIT 1");
    check_usual(", PARQUET_VERSION V2, DICTIONARY_SIZE_LIMIT 1");
}

static void check_types(const char *time, const char *value, uint64_t inexact)
{
    char select[400];
    snprintf(select, sizeof select,
             "SELECT CAST(%s AS %s) AS time_ns, 'LinkBusy' AS category, 'a' AS component, "
             "CAST(3 AS %s) AS value, NULL AS detail_json",
             inexact ? "9007199254740993" : "7", time, value);
    copy_to(path_of("types.parquet"), select, "");
    seen s;
    mrd__event_info info;
    mrd_error error = {0};
    if (read_file(path_of("types.parquet"), &s, &info, &error) != MRD_OK)
        fail_msg("%s: %s", time, error.message);
    assert_int_equal(s.rows.count, 1);
    assert_true(s.rows.data[0].time == (inexact ? 9007199254740992.0 : 7));
    assert_true(s.rows.data[0].value == 3);
    assert_int_equal(s.rows.data[0].category, MRD__EV_LINK_BUSY);
    assert_int_equal(s.inexact, inexact);
    mrd__event_info_reset(&info);
    seen_reset(&s);
}

static void every_number_type(void **state)
{
    (void)state;
    static const char *const types[] = {"DOUBLE",   "FLOAT",     "BIGINT",      "UBIGINT",
                                        "INTEGER",  "SMALLINT",  "TINYINT",     "UINTEGER",
                                        "UTINYINT", "USMALLINT", "DECIMAL(9,2)"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        check_types(types[i], types[sizeof types / sizeof *types - 1 - i], 0);
    check_types("BIGINT", "DOUBLE", 1);
    check_types("UBIGINT", "DOUBLE", 1);
}

static void no_rows(void **state)
{
    (void)state;
    copy_to(path_of("none.parquet"), USUAL " LIMIT 0", ", KV_METADATA {sim_end_ns: '12.5'}");
    seen s;
    mrd__event_info info;
    mrd_error error = {0};
    assert_int_equal(read_file(path_of("none.parquet"), &s, &info, &error), MRD_OK);
    assert_int_equal(info.rows, 0);
    assert_true(info.has_sim_end && info.sim_end_ns == 12.5);
    seen_reset(&s);
    mrd__event_info_reset(&info);
}

/* ---- Refusals ---- */

static void check_refused(const char *path, const char *what)
{
    seen s;
    mrd__event_info info;
    mrd_error error = {0};
    assert_int_equal(read_file(path, &s, &info, &error), MRD_ERR_FORMAT);
    assert_string_equal(error.code, "bad_trace");
    assert_string_equal(error.file, path);
    if (!strstr(error.message, what)) fail_msg("\"%s\" has no \"%s\"", error.message, what);
    assert_null(strstr(error.message, "/dev/fd"));
    seen_reset(&s);
}

/* A file of 5,000 good rows whose row 4,321 has this column. */
static void check_bad_row(const char *column, const char *value, const char *what)
{
    static const struct {
        const char *name, *good;
    } columns[] = {{"time_ns", "CAST(i AS DOUBLE)"},
                   {"category", "'hop_arrive'"},
                   {"component", "'flow_0_1'"},
                   {"value", "1.5::DOUBLE"},
                   {"detail_json", "NULL::VARCHAR"}};
    mrd__buf select = {0};
    for (size_t i = 0; i < 5; i++) {
        mrd__buf_text(&select, i ? ", " : "SELECT ");
        if (strcmp(columns[i].name, column) == 0)
            mrd__buf_printf(&select, "CASE WHEN i = 4321 THEN %s ELSE %s END", value,
                            columns[i].good);
        else
            mrd__buf_text(&select, columns[i].good);
        mrd__buf_printf(&select, " AS %s", columns[i].name);
    }
    mrd__buf_text(&select, " FROM range(5000) t(i)");
    copy_to(path_of("bad.parquet"), select.data, ", ROW_GROUP_SIZE 2048");
    mrd__buf_reset(&select);
    check_refused(path_of("bad.parquet"), what);
    check_refused(path_of("bad.parquet"), "row 4321");
    check_refused(path_of("bad.parquet"), column);
}

static void bad_rows(void **state)
{
    (void)state;
    check_bad_row("time_ns", "9223372036854775808::DOUBLE", "column time_ns 9223372036854776000");
    check_bad_row("time_ns", "-1e300::DOUBLE", "from -2^63 up to below 2^63 ns");
    check_bad_row("time_ns", "NULL", "is null");
    check_bad_row("category", "NULL", "is null");
    check_bad_row("component", "NULL", "is null");
    check_bad_row("value", "NULL", "is null");
    check_bad_row("time_ns", "'NaN'::DOUBLE", "NaN");
    check_bad_row("time_ns", "'Infinity'::DOUBLE", "Infinity");
    check_bad_row("time_ns", "'-Infinity'::DOUBLE", "-Infinity");
    check_bad_row("value", "'NaN'::DOUBLE", "NaN");
    check_bad_row("category", "'link_gone'", "link_gone");
    check_bad_row("category", "''", "no category");
    check_bad_row("category", "'link_busy '", "link_busy ");
}

/* Bad rows in every row group: the first one is named, whatever thread meets its group when. */
static void the_first_bad_row_is_named(void **state)
{
    (void)state;
    copy_to(path_of("rows.parquet"),
            "SELECT CASE WHEN i >= 3000 THEN NULL ELSE CAST(i AS DOUBLE) END AS time_ns, "
            "'hop_arrive' AS category, 'a' AS component, 1.0::DOUBLE AS value, "
            "NULL::VARCHAR AS detail_json FROM range(60000) t(i)",
            ", ROW_GROUP_SIZE 2048");
    for (int i = 0; i < 10; i++)
        check_refused(path_of("rows.parquet"), "row 3000 ");
}

static void bad_columns(void **state)
{
    (void)state;
    static const struct {
        const char *select, *what;
    } cases[] = {
        {"SELECT 1.0::DOUBLE AS time_ns, 'hop_arrive' AS category, 'a' AS component, 1 AS value",
         "detail_json is missing"},
        {"SELECT 1.0::DOUBLE AS time_ns, 'hop_arrive' AS category, 'a' AS component, "
         "NULL::VARCHAR AS detail_json",
         "value is missing"},
        {"SELECT 1.0::DOUBLE AS Time_ns, 'hop_arrive' AS category, 'a' AS component, 1 AS value, "
         "NULL::VARCHAR AS detail_json",
         "time_ns is missing"},
        {"SELECT TIMESTAMP '2020-01-01' AS time_ns, 'hop_arrive' AS category, 'a' AS component, "
         "1 AS value, NULL::VARCHAR AS detail_json",
         "TIMESTAMP"},
        {"SELECT TIMESTAMP_NS '2020-01-01' AS time_ns, 'hop_arrive' AS category, 'a' AS component, "
         "1 AS value, NULL::VARCHAR AS detail_json",
         "TIMESTAMP"},
        {"SELECT '1' AS time_ns, 'hop_arrive' AS category, 'a' AS component, 1 AS value, "
         "NULL::VARCHAR AS detail_json",
         "time_ns has type VARCHAR"},
        {"SELECT 1 AS time_ns, 5 AS category, 'a' AS component, 1 AS value, "
         "NULL::VARCHAR AS detail_json",
         "category has type INTEGER"},
        {"SELECT 1 AS time_ns, 'hop_arrive' AS category, 7 AS component, 1 AS value, "
         "NULL::VARCHAR AS detail_json",
         "component has type INTEGER"},
        {"SELECT 1 AS time_ns, 'hop_arrive' AS category, 'a' AS component, true AS value, "
         "NULL::VARCHAR AS detail_json",
         "value has type BOOLEAN"},
        {"SELECT 1 AS time_ns, 'hop_arrive' AS category, 'a' AS component, 1 AS value, "
         "17 AS detail_json",
         "row 0"},
        {"SELECT 1 AS time_ns, 'hop_arrive' AS category, '\\xFF'::BLOB AS component, 1 AS value, "
         "NULL::VARCHAR AS detail_json",
         "UTF-8"},
        {"SELECT 1 AS time_ns, 'hop_arrive' AS category, 'a' AS component, 1 AS value, "
         "'\\xFF'::BLOB AS detail_json",
         "UTF-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_to(path_of("columns.parquet"), cases[i].select, "");
        check_refused(path_of("columns.parquet"), cases[i].what);
    }
    copy_to(path_of("end.parquet"), USUAL, ", KV_METADATA {sim_end_ns: 'late'}");
    check_refused(path_of("end.parquet"), "late");
}

/* Times of an end lie where times of events lie; the file tells which it wants. */
static void ends_out_of_range(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
        double value;
    } cases[] = {
        {"9223372036854775808", false, 0},
        {"-9223372036854777856", false, 0},
        {"1e300", false, 0},
        {"-1e300", false, 0},
        {"9223372036854774784", true, 0x1p63 - 1024},
        {"-9223372036854775808", true, -0x1p63},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char options[96];
        snprintf(options, sizeof options, ", KV_METADATA {sim_end_ns: '%s'}", cases[i].text);
        copy_to(path_of("end.parquet"), USUAL " LIMIT 1", options);
        if (!cases[i].good) {
            check_refused(path_of("end.parquet"), "from -2^63 up to below 2^63 ns");
            check_refused(path_of("end.parquet"), "sim_end_ns");
            check_refused(path_of("end.parquet"), cases[i].text);
            continue;
        }
        seen s;
        mrd__event_info info;
        mrd_error error = {0};
        assert_int_equal(read_file(path_of("end.parquet"), &s, &info, &error), MRD_OK);
        assert_true(info.has_sim_end && info.sim_end_ns == cases[i].value);
        mrd__event_info_reset(&info);
        seen_reset(&s);
    }
}

/* What a footer announces is checked before DuckDB makes room for it. */
static void footers_that_announce_too_much(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *what;
    } cases[] = {
        /* field 1 (i32) 2; field 5, the key-value pairs: a list of 2^28 - 1 structs */
        {"\x15\x02\x49\xfc\xff\xff\xff\x7f\x00", 9, "268435455 entries of a list"},
        {"\x15\x02\x48\xe8\x07\x00", 6, "1000 bytes of a text"},
        {"\x15\x02\x4b\xe8\x07\x88\x00", 7, "1000 entries of a map"},
        {"\x15\x02\x4f\x00", 4, "15 as the type of a value"},
        {"\x15\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", 12, "longer than 64 bits"},
        {"\x15\x02", 2, "past the end"},
        {"\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c"
         "\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c",
         40, "32 levels"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mrd__buf file = {0};
        mrd_error error = {0};
        char tail[8] = {(char)cases[i].size, 0, 0, 0, 'P', 'A', 'R', '1'};
        mrd__buf_text(&file, "PAR1");
        mrd__buf_add(&file, cases[i].bytes, cases[i].size);
        mrd__buf_add(&file, tail, sizeof tail);
        assert_int_equal(
            mrd__file_write_atomic(path_of("footer.parquet"), file.data, file.size, &error),
            MRD_OK);
        mrd__buf_reset(&file);
        check_refused(path_of("footer.parquet"), cases[i].what);
        check_refused(path_of("footer.parquet"), "footer is damaged");
    }
}

/* Cut anywhere, or not Parquet at all: one error, and the next file still opens. */
static void damaged_files(void **state)
{
    (void)state;
    copy_to(path_of("whole.parquet"), USUAL, "");
    mrd__buf whole = {0};
    mrd_error error = {0};
    assert_int_equal(mrd__file_read(&whole, path_of("whole.parquet"), 1 << 24, &error), MRD_OK);
    for (size_t part = 0; part < 16; part++) {
        size_t size = whole.size * part / 16;
        assert_int_equal(mrd__file_write_atomic(path_of("cut.parquet"), whole.data, size, &error),
                         MRD_OK);
        check_refused(path_of("cut.parquet"), "Parquet");
    }
    mrd__rng rng = {3};
    for (size_t i = 0; i < 40; i++) { /* anything but a crash */
        size_t at = mrd__rng_below(&rng, whole.size);
        char old = whole.data[at];
        whole.data[at] = (char)mrd__rng_next(&rng);
        assert_int_equal(
            mrd__file_write_atomic(path_of("flip.parquet"), whole.data, whole.size, &error),
            MRD_OK);
        seen s;
        mrd__event_info info;
        mrd_status status = read_file(path_of("flip.parquet"), &s, &info, &error);
        if (status != MRD_OK) assert_int_equal(status, MRD_ERR_FORMAT);
        mrd__event_info_reset(&info);
        seen_reset(&s);
        whole.data[at] = old;
    }
    mrd__buf_reset(&whole);
    check_usual("");
    seen s;
    mrd__event_info info;
    assert_int_equal(read_file(path_of("absent.parquet"), &s, &info, &error), MRD_ERR_NOT_FOUND);
}

static bool no_more(void *ctx, uint64_t rows)
{
    (void)ctx, (void)rows;
    return false;
}

static mrd_status refuse(void *ctx, uint64_t rows, mrd_error *error)
{
    (void)ctx;
    return mrd__fail(error, MRD_ERR_LIMIT, "refused", "%llu rows", (unsigned long long)rows);
}

static void a_sink_can_stop(void **state)
{
    (void)state;
    copy_to(path_of("stop.parquet"), USUAL, "");
    seen s = {0};
    mrd__event_info info;
    mrd_error error = {0};
    mrd__event_sink sink = {.ctx = &s, .begin = begin, .batch = keep, .progress = no_more};
    assert_int_equal(mrd__event_read(path_of("stop.parquet"), 2, &sink, &info, &error),
                     MRD_ERR_CANCELLED);
    assert_string_equal(error.code, "cancelled");
    seen_reset(&s);
    sink = (mrd__event_sink){.begin = refuse, .batch = keep};
    assert_int_equal(mrd__event_read(path_of("stop.parquet"), 2, &sink, &info, &error),
                     MRD_ERR_LIMIT);
    assert_string_equal(error.message, "70000 rows");
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/mrd-events-XXXXXX");
    return mkdtemp(folder) ? 0 : 1;
}

static int clean_up(void **state)
{
    (void)state;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        unlink(path_of(entry->d_name));
    closedir(dir);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(failed_writing_changes_nothing),
        cmocka_unit_test(every_codec_and_page),
        cmocka_unit_test(every_number_type),
        cmocka_unit_test(no_rows),
        cmocka_unit_test(bad_rows),
        cmocka_unit_test(the_first_bad_row_is_named),
        cmocka_unit_test(bad_columns),
        cmocka_unit_test(ends_out_of_range),
        cmocka_unit_test(footers_that_announce_too_much),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(a_sink_can_stop),
    };
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
