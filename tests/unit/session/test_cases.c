/* Every folder of the shared cases: input, and the samples, janks, reports that are expected. */
#include "base/os.h"
#include "feed.h"

#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CASES MRD_SOURCE_DIR "/../shared/cases/session"

static bool read_in(const char *folder, const char *name, mrd__buf *out)
{
    mrd__buf path = {0};
    mrd__buf_printf(&path, "%s/%s/%s", CASES, folder, name);
    bool good = mrd__file_read(out, path.data, (size_t)16 << 20, NULL) == MRD_OK;
    mrd__buf_reset(&path);
    return good;
}

static void check_value(json_t *want, const mrd__sample *got)
{
    double value;
    int64_t integer;
    if (json_is_null(want)) {
        assert_false(mrd__measured_get(got->value, &value));
    } else if (json_is_integer(want) && mrd__measured_get_integer(got->value, &integer)) {
        assert_true(integer == json_integer_value(want));
    } else {
        double number = json_number_value(want);
        assert_true(mrd__measured_get(got->value, &value));
        assert_true(fabs(value - number) <= 1e-9 * fabs(number));
    }
}

static void expect_list(json_t *samples, size_t limit, const feed *f)
{
    assert_int_equal(f->samples.count, limit);
    for (size_t i = 0; i < limit; i++) {
        json_t *want = json_array_get(samples, i);
        const mrd__sample *got = &f->samples.data[i];
        assert_int_equal(got->sequence, json_integer_value(json_object_get(want, "seq")));
        const char *metric = json_string_value(json_object_get(want, "metric"));
        const char *unit = json_string_value(json_object_get(want, "unit"));
        assert_true(mrd__str_is(got->series->metric, metric));
        assert_true(mrd__str_is(got->series->unit, unit));
        assert_string_equal(mrd__quality_name(got->value.quality),
                            json_string_value(json_object_get(want, "quality")));
        check_value(json_object_get(want, "value"), got);
    }
}

static void expect_near(mrd__measured got, json_t *want)
{
    double value;
    assert_true(mrd__measured_get(got, &value));
    assert_true(fabs(value - json_number_value(want)) <= 1e-9 * fabs(json_number_value(want)));
}

static void expect_sequences(json_t *want, const uint64_t *got, uint64_t count)
{
    assert_int_equal(json_array_size(want), count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(json_integer_value(json_array_get(want, i)), got[i]);
}

static void expect_jank(json_t *want, const mrd__report_view *view)
{
    assert_int_equal(view->frames.count, 1);
    const mrd__frames_row *row = &view->frames.data[0];
    assert_int_equal(row->janks, json_integer_value(json_object_get(want, "jankCount")));
    assert_int_equal(row->big_janks, json_integer_value(json_object_get(want, "bigJankCount")));
    assert_int_equal(row->big_janks_3x,
                     json_integer_value(json_object_get(want, "bigJankCountIf3x")));
    expect_sequences(json_object_get(want, "jankSeqs"), row->jank_sequences, row->janks);
    expect_sequences(json_object_get(want, "bigJankSeqs"), row->big_jank_sequences, row->big_janks);
    expect_near(row->stutter, json_object_get(want, "stutter"));
}

static void expect_report(json_t *want, const mrd__report_view *view)
{
    const char *metric = json_string_value(json_object_get(want, "metric"));
    for (size_t i = 0; i < view->metrics.count; i++) {
        const mrd__metric_row *row = &view->metrics.data[i];
        if (!mrd__str_is(row->series->metric, metric)) continue;
        assert_int_equal(row->counts[MRD__QUALITY_OK],
                         json_integer_value(json_object_get(want, "count")));
        expect_near(row->mean, json_object_get(want, "mean"));
        return;
    }
    fail_msg("no metric %s in the report", metric);
}

static void run_input(const char *folder, const char *name, json_t *expected, json_t *file)
{
    feed f;
    mrd__buf text = {0};
    mrd__report_view view;
    json_t *samples = json_object_get(expected, "samples");
    size_t limit = json_array_size(samples);
    assert_true(read_in(folder, name, &text));
    feed_open(&f);
    feed_text(&f, text.data);
    if (file != NULL) {
        limit = (size_t)json_integer_value(json_object_get(file, "samples"));
        assert_int_equal(f.sequence, json_integer_value(json_object_get(file, "records")));
        assert_int_equal(f.decode_errors,
                         json_integer_value(json_object_get(file, "decodeErrors")));
    } else {
        assert_int_equal(f.decode_errors, 0);
    }
    expect_list(samples, limit, &f);
    mrd__session_report_view(f.report, &view);
    if (json_object_get(expected, "jank") != NULL)
        expect_jank(json_object_get(expected, "jank"), &view);
    if (json_object_get(expected, "report") != NULL)
        expect_report(json_object_get(expected, "report"), &view);
    mrd__report_view_reset(&view);
    feed_close(&f);
    mrd__buf_reset(&text);
}

static void run_case(const char *folder)
{
    mrd__buf text = {0};
    assert_true(read_in(folder, "expected.json", &text));
    json_t *expected = json_loadb(text.data, text.size, 0, NULL);
    assert_non_null(expected);
    json_t *files = json_object_get(expected, "files"), *file;
    const char *name;
    if (files == NULL) run_input(folder, "input.ndjson", expected, NULL);
    json_object_foreach(files, name, file) run_input(folder, name, expected, file);
    json_decref(expected);
    mrd__buf_reset(&text);
    print_message("case %s: as expected\n", folder);
}

static void test_cases(void **state)
{
    (void)state;
    struct dirent **list = NULL;
    int count = scandir(CASES, &list, NULL, alphasort);
    int run = 0;
    if (count < 0) skip();
    for (int i = 0; i < count; i++) {
        mrd__buf input = {0};
        /* Cases of the writer (operations) are not ours; those of lines are. */
        if (list[i]->d_name[0] != '.' && (read_in(list[i]->d_name, "input.ndjson", &input) ||
                                          read_in(list[i]->d_name, "stdout.bin", &input))) {
            run_case(list[i]->d_name);
            run++;
        }
        mrd__buf_reset(&input);
        free(list[i]);
    }
    free(list);
    assert_true(run > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
