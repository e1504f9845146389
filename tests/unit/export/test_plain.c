/* Plain rows as CSV and JSON, and the generator of Chrome traces: what sinks see. */
#include "base/error.h"
#include "base/json.h"
#include "export/export.h"
#include "export/plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static void write_row(mrd__plain *plain)
{
    mrd__plain_int(plain, INT64_MIN);
    mrd__plain_uint(plain, UINT64_MAX);
    mrd__plain_double(plain, 0.1);
    mrd__plain_double(plain, -INFINITY);
    mrd__plain_text(plain, MRD__STR("a,\"b\"\n"));
    mrd__plain_json(plain, MRD__STR("[1,2]"));
    mrd__plain_null(plain);
    assert_int_equal(mrd__plain_row(plain, NULL), MRD_OK);
}

static void expect_rows(mrd_format format, const char *want)
{
    mrd__buf out = {0};
    mrd_sink sink = mrd__buf_sink(&out);
    mrd__plain plain;
    mrd__plain_begin(&plain, "i,u,d,e,t,j,n", format, &sink);
    write_row(&plain);
    assert_int_equal(mrd__plain_finish(&plain, MRD_OK, NULL), MRD_OK);
    assert_string_equal(out.data, want);
    mrd__buf_reset(&out);
}

static void csv(void **state)
{
    (void)state;
    expect_rows(MRD_FORMAT_CSV,
                "i,u,d,e,t,j,n\n-9223372036854775808,18446744073709551615,0.1,-Infinity,"
                "\"a,\"\"b\"\"\n\",\"[1,2]\",\n");
}

static void json(void **state)
{
    (void)state;
    expect_rows(MRD_FORMAT_JSON,
                "{\"i\":-9223372036854775808,\"u\":18446744073709551615,\"d\":0.1,\"e\":"
                "\"-Infinity\",\"t\":\"a,\\\"b\\\"\\n\",\"j\":[1,2],\"n\":null}\n");
}

/* Takes so many bytes, then is full. */
typedef struct narrow {
    size_t room, calls, largest;
} narrow;

static mrd_status write_narrow(void *ctx, const void *data, size_t size, mrd_error *error)
{
    (void)data;
    narrow *to = ctx;
    to->calls++;
    if (size > to->largest) to->largest = size;
    if (size > to->room) return mrd__fail(error, MRD_ERR_IO, "full", "no more room");
    to->room -= size;
    return MRD_OK;
}

static void rows_go_out_in_pieces(void **state)
{
    (void)state;
    narrow to = {.room = SIZE_MAX};
    mrd_sink sink = {&to, write_narrow};
    mrd__plain plain;
    mrd__plain_begin(&plain, "a", MRD_FORMAT_CSV, &sink);
    for (int i = 0; i < 100000; i++) {
        mrd__plain_int(&plain, i);
        assert_int_equal(mrd__plain_row(&plain, NULL), MRD_OK);
    }
    assert_int_equal(mrd__plain_finish(&plain, MRD_OK, NULL), MRD_OK);
    assert_true(to.calls >= 8);
    assert_true(to.largest < 2 * MRD__PLAIN_FLUSH);
}

static void full_sink_stops_rows(void **state)
{
    (void)state;
    mrd_error error = {0};
    narrow to = {.room = MRD__PLAIN_FLUSH + 100};
    mrd_sink sink = {&to, write_narrow};
    mrd__plain plain;
    mrd__plain_begin(&plain, "a", MRD_FORMAT_CSV, &sink);
    mrd_status status = MRD_OK;
    int rows = 0;
    for (; status == MRD_OK; rows++) {
        mrd__plain_int(&plain, 123456789);
        status = mrd__plain_row(&plain, &error);
        assert_true(rows < 1000000);
    }
    assert_int_equal(mrd__plain_finish(&plain, status, &error), MRD_ERR_IO);
    assert_string_equal(error.code, "full");
    size_t calls = to.calls;
    assert_int_equal(calls, 2); /* nothing was tried after the failure */
}

static void full_sink_at_the_end(void **state)
{
    (void)state;
    mrd_error error = {0};
    narrow to = {.room = 1};
    mrd_sink sink = {&to, write_narrow};
    mrd__plain plain;
    mrd__plain_begin(&plain, "a", MRD_FORMAT_JSON, &sink);
    mrd__plain_null(&plain);
    assert_int_equal(mrd__plain_row(&plain, &error), MRD_OK);
    assert_int_equal(mrd__plain_finish(&plain, MRD_OK, &error), MRD_ERR_IO);
}

static size_t count_events(const mrd__buf *text)
{
    mrd__json json;
    mrd__json_init(&json, text->data, text->size);
    size_t events = 0;
    for (;;) {
        mrd__json_token token = mrd__json_next(&json);
        assert_int_not_equal(token.type, MRD__JSON_ERROR);
        if (token.type == MRD__JSON_END) return events;
        events += token.type == MRD__JSON_OBJECT && json.depth == 3;
    }
}

static void generated_events_are_as_many_as_asked(void **state)
{
    (void)state;
    static const uint64_t counts[] = {0, 1, 2, 9, 99, 100, 101, 7999, 8000, 50001};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        mrd__buf out = {0};
        mrd_sink sink = mrd__buf_sink(&out);
        assert_int_equal(mrd__gen_chrome_json(&sink, counts[i], 7, NULL), MRD_OK);
        assert_int_equal(count_events(&out), counts[i]);
        mrd__buf_reset(&out);
    }
}

static void generator_stops_at_a_full_sink(void **state)
{
    (void)state;
    mrd_error error = {0};
    narrow to = {.room = 200000};
    mrd_sink sink = {&to, write_narrow};
    assert_int_equal(mrd__gen_chrome_json(&sink, 1000000, 1, &error), MRD_ERR_IO);
    assert_string_equal(error.code, "full");
    assert_true(to.calls < 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv),
        cmocka_unit_test(json),
        cmocka_unit_test(rows_go_out_in_pieces),
        cmocka_unit_test(full_sink_stops_rows),
        cmocka_unit_test(full_sink_at_the_end),
        cmocka_unit_test(generated_events_are_as_many_as_asked),
        cmocka_unit_test(generator_stops_at_a_full_sink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
