/* Traces that open warm: every answer is that of the files, and what is not whole is not taken. */
#include "base/alloc.h"
#include "base/os.h"
#include "base/text.h"
#include "meridian.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct fixture {
    char folder[64];
    char json[128], records[128];
} fixture;

static mrd_error error;

static mrd_status add_bytes(void *ctx, const void *data, size_t size, mrd_error *unused)
{
    (void)unused;
    mrd__buf_add(ctx, data, size);
    return MRD_OK;
}

static void write_bytes(const char *path, const void *data, size_t size)
{
    assert_int_equal(mrd__file_write_atomic(path, data, size, &error), MRD_OK);
}

/* Slices of all kinds, counters, instants, flows, args, a loss, a far time. */
static const char extra[] =
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":77,\"args\":{\"name\":\"first\"}},"
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":77,\"args\":{\"name\":\"\xe4\xb8\xad\"}},"
    "{\"ph\":\"X\",\"name\":\"far\",\"ts\":9000000000000000,\"dur\":1.5,\"pid\":77,\"tid\":1,"
    "\"args\":{\"a\":{\"b\":[1,NaN]}}},"
    "{\"ph\":\"B\",\"name\":\"open\",\"ts\":5,\"pid\":77,\"tid\":1},"
    "{\"ph\":\"E\",\"ts\":1,\"pid\":77,\"tid\":9}]";

static int set_up(void **state)
{
    fixture *f = mrd__new(fixture);
    snprintf(f->folder, sizeof f->folder, "/tmp/mrd-cache-XXXXXX");
    if (mkdtemp(f->folder) == NULL) return 1;
    snprintf(f->json, sizeof f->json, "%s/a.json", f->folder);
    snprintf(f->records, sizeof f->records, "%s/a.parquet", f->folder);
    setenv("XDG_CACHE_HOME", f->folder, 1);
    mrd__buf text = {0};
    mrd_sink sink = {&text, add_bytes};
    if (mrd_gen_chrome_json(&sink, 3000, 7, &error) != MRD_OK) return 1;
    /* The generated text ends its array of events somewhere; an array of its own is simplest. */
    char *events = memmem(text.data, text.size, "[", 1);
    size_t skip = (size_t)(events - text.data);
    char *end = memrchr(text.data, ']', text.size);
    mrd__buf whole = {0};
    mrd__buf_add(&whole, events, (size_t)(end - text.data) - skip);
    mrd__buf_char(&whole, ',');
    mrd__buf_text(&whole, extra);
    write_bytes(f->json, whole.data, whole.size);
    mrd__buf_reset(&whole);
    mrd__buf_reset(&text);
    *state = f;
    return mrd_gen_event_trace(f->records, 2000, 5, &error) == MRD_OK ? 0 : 1;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    uint64_t files;
    uint64_t bytes;
    if (mrd_cache_clear(&files, &bytes, &error) != MRD_OK) return 1;
    char path[160];
    snprintf(path, sizeof path, "%s/meridian", f->folder);
    rmdir(path);
    unlink(f->json);
    unlink(f->records);
    int left = rmdir(f->folder);
    mrd__free(f);
    return left;
}

static mrd_trace *open_trace(const char *path, bool cache, bool verify)
{
    mrd_trace *trace = NULL;
    mrd_open_options options = {.threads = 2, .cache = cache, .verify_cache = verify};
    assert_int_equal(mrd_trace_open(&path, 1, &options, &trace, &error), MRD_OK);
    return trace;
}

/* Everything that can be asked for, one text. */
static void ask_all(const mrd_trace *trace, mrd__buf *out)
{
    static const char *const tables[] = {"slice",    "instant", "counter", "flow",
                                         "process",  "thread",  "track",   "args",
                                         "metadata", "loss",    "event"};
    mrd_sink sink = {out, add_bytes};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        assert_int_equal(mrd_trace_dump(trace, tables[i], MRD_FORMAT_JSON, &sink, &error), MRD_OK);
    assert_int_equal(mrd_trace_summary(trace, &sink, &error), MRD_OK);
    assert_int_equal(mrd_trace_lanes(trace, &sink, &error), MRD_OK);
    assert_int_equal(mrd_trace_clocks(trace, MRD_FORMAT_JSON, &sink, &error), MRD_OK);
    mrd_params *params = mrd_params_create();
    mrd_params_add(params, "buckets", "100", false);
    mrd_status status = mrd_trace_is_event_trace(trace)
                            ? mrd_trace_event_window(trace, params, MRD_FORMAT_JSON, &sink, &error)
                            : mrd_trace_window(trace, params, true, MRD_FORMAT_JSON, &sink, &error);
    assert_int_equal(status, MRD_OK);
    mrd_params_destroy(&params);
}

static void answers_of(const char *path, bool cache, bool verify, mrd__buf *out)
{
    mrd_trace *trace = open_trace(path, cache, verify);
    mrd__buf_clear(out);
    ask_all(trace, out);
    mrd_trace_close(&trace);
}

/* The one image in the folder; false when there is none. */
static bool find_image(mrd__buf *path)
{
    mrd__buf list = {0};
    mrd_sink sink = {&list, add_bytes};
    assert_int_equal(mrd_cache_list(MRD_FORMAT_JSON, &sink, &error), MRD_OK);
    const char *start = strstr(list.data, "\"path\":\"");
    mrd__buf_clear(path);
    if (start != NULL) {
        start += strlen("\"path\":\"");
        mrd__buf_add(path, start, strcspn(start, "\""));
    }
    mrd__buf_reset(&list);
    return start != NULL;
}

static void keep(const char *path)
{
    mrd_trace *trace = open_trace(path, false, false);
    assert_int_equal(mrd_trace_cache(trace, &error), MRD_OK);
    mrd_trace_close(&trace);
}

static void check_answers(const char *path)
{
    mrd__buf cold = {0};
    mrd__buf warm = {0};
    answers_of(path, false, false, &cold);
    assert_true(cold.size > 100000);
    keep(path);
    answers_of(path, true, false, &warm);
    assert_int_equal(warm.size, cold.size);
    assert_memory_equal(warm.data, cold.data, cold.size);
    answers_of(path, true, true, &warm);
    assert_memory_equal(warm.data, cold.data, cold.size);
    mrd__buf_reset(&cold);
    mrd__buf_reset(&warm);
}

static void test_slices_answer_the_same(void **state)
{
    check_answers(((fixture *)*state)->json);
}

static void test_records_answer_the_same(void **state)
{
    check_answers(((fixture *)*state)->records);
}

/* An image is taken only when it is there: its removal, and nothing else, brings the files back. */
static void test_the_image_is_what_is_read(void **state)
{
    fixture *f = *state;
    mrd__buf image = {0};
    keep(f->json);
    assert_true(find_image(&image));
    mrd_trace *trace = open_trace(f->json, true, false);
    uint64_t before = (uint64_t)mrd__realtime_ns();
    mrd_trace_close(&trace);
    mrd__buf list = {0};
    mrd_sink sink = {&list, add_bytes};
    assert_int_equal(mrd_cache_list(MRD_FORMAT_JSON, &sink, &error), MRD_OK);
    const char *used = strstr(list.data, "\"used_ns\":");
    assert_non_null(used);
    /* Taking it is a use: its time is that of the opening. */
    assert_true(before - strtoull(used + strlen("\"used_ns\":"), NULL, 10) < 5000000000u);
    assert_non_null(strstr(list.data, f->json));
    mrd__buf_reset(&list);
    mrd__buf_reset(&image);
}

static void test_a_changed_file_is_read_again(void **state)
{
    fixture *f = *state;
    keep(f->json);
    static const char other[] = "[{\"ph\":\"X\",\"name\":\"other\",\"ts\":1,\"dur\":1,\"pid\":1,"
                                "\"tid\":1}]";
    write_bytes(f->json, other, strlen(other));
    mrd__buf answers = {0};
    answers_of(f->json, true, false, &answers);
    assert_non_null(strstr(answers.data, "\"other\""));
    assert_null(strstr(answers.data, "\"far\""));
    mrd__buf_reset(&answers);
}

/* Every byte of a small image turned over: either it is not taken, or (bytes between sections) the
 * answers are the same. Cut at every length likewise. */
static void test_damage_is_never_taken(void **state)
{
    fixture *f = *state;
    static const char small[] =
        "[{\"ph\":\"X\",\"name\":\"one\",\"cat\":\"c\",\"ts\":1,\"dur\":5,\"pid\":1,\"tid\":1,"
        "\"args\":{\"k\":1}},{\"ph\":\"C\",\"name\":\"n\",\"ts\":2,\"pid\":1,\"args\":{\"v\":3}}]";
    write_bytes(f->json, small, strlen(small));
    keep(f->json);
    mrd__buf image = {0};
    mrd__buf bytes = {0};
    mrd__buf cold = {0};
    mrd__buf warm = {0};
    assert_true(find_image(&image));
    assert_int_equal(mrd__file_read(&bytes, image.data, 1 << 24, &error), MRD_OK);
    answers_of(f->json, false, false, &cold);
    for (size_t i = 0; i < bytes.size; i += 1 + (i > 2048) * 6) {
        bytes.data[i] = (char)~bytes.data[i];
        write_bytes(image.data, bytes.data, bytes.size);
        answers_of(f->json, true, false, &warm);
        assert_int_equal(warm.size, cold.size);
        assert_memory_equal(warm.data, cold.data, cold.size);
        bytes.data[i] = (char)~bytes.data[i];
    }
    for (size_t size = 0; size < bytes.size; size += 97) {
        write_bytes(image.data, bytes.data, size);
        answers_of(f->json, true, false, &warm);
        assert_memory_equal(warm.data, cold.data, cold.size);
    }
    mrd__buf_reset(&image);
    mrd__buf_reset(&bytes);
    mrd__buf_reset(&cold);
    mrd__buf_reset(&warm);
}

static void test_pipes_and_folders_are_not_kept(void **state)
{
    fixture *f = *state;
    mrd_trace *trace = NULL;
    const char *path = "/dev/null";
    assert_int_not_equal(mrd_trace_open(&path, 1, NULL, &trace, &error), MRD_OK);
    assert_null(trace);
    mrd__buf image = {0};
    assert_false(find_image(&image));
    mrd__buf_reset(&image);
    (void)f;
}

/* A session is read from files beside the one that opens it: a change of any is one of the input.
 */
static void test_a_changed_file_of_a_session_is_read_again(void **state)
{
    fixture *f = *state;
    mrd_record_result result;
    char lines[160], dir[128], path[160];
    snprintf(lines, sizeof lines, "%s/lines", f->folder);
    snprintf(dir, sizeof dir, "%s/session", f->folder);
    static const char text[] =
        "{\"sourceId\":\"a\",\"kind\":\"graphics\",\"hostReceiveMonotonicNs\":1000000000,"
        "\"payload\":{\"CoreAnimationFramesPerSecond\":50}}\n"
        "{\"sourceId\":\"a\",\"kind\":\"graphics\",\"hostReceiveMonotonicNs\":2000000000,"
        "\"payload\":{\"CoreAnimationFramesPerSecond\":51}}\n";
    write_bytes(lines, text, strlen(text));
    assert_int_equal(mrd_session_ingest(lines, dir, &result, &error), MRD_OK);
    keep(dir);
    snprintf(path, sizeof path, "%s/metrics.mrl", dir);
    mrd__buf bytes = {0};
    assert_int_equal(mrd__file_read(&bytes, path, 1 << 20, &error), MRD_OK);
    bytes.data[bytes.size - 9] ^= 1;
    assert_int_equal(unlink(path), 0); /* sealed: read-only */
    write_bytes(path, bytes.data, bytes.size);
    mrd_trace *trace = open_trace(dir, true, false);
    assert_true(mrd_trace_has_losses(trace));
    mrd_trace_close(&trace);
    mrd__buf_reset(&bytes);
    static const char *const made[] = {"session/raw/000001.mrl",
                                       "session/raw",
                                       "session/domain.mrl",
                                       "session/metrics.mrl",
                                       "session/report.json",
                                       "session/metrics-manifest.json",
                                       "session/seal.json",
                                       "session/session.json",
                                       "session",
                                       "lines"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        snprintf(path, sizeof path, "%s/%s", f->folder, made[i]);
        assert_int_equal(remove(path), 0);
    }
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(test_slices_answer_the_same),
        WITH(test_records_answer_the_same),
        WITH(test_the_image_is_what_is_read),
        WITH(test_a_changed_file_is_read_again),
        WITH(test_damage_is_never_taken),
        WITH(test_pipes_and_folders_are_not_kept),
        WITH(test_a_changed_file_of_a_session_is_read_again),
    };
    return cmocka_run_group_tests_name("api/cache", tests, NULL, NULL);
}
