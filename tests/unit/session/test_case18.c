/* A failed tail is neither renumbered nor hidden: the case of the shared collection where that is
 * there, and its like, written here, always. */
#include "kit.h"

#include "base/alloc.h"
#include "base/os.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define CASE "/../shared/cases/session/18-unconsumed-reservation/"
#define SLOTS 64

typedef struct player {
    kit k;
    kit_faults faults;
    mrd__recording *recording;
    mrd__slot slots[SLOTS + 1]; /* by sequence */
    uint64_t refused_with;      /* newest sequence on disk when finishing was refused */
} player;

static uint64_t number(const json_t *op, const char *name)
{
    return (uint64_t)json_integer_value(json_object_get(op, name));
}

static void expect_refusal(const json_t *op, mrd_status status)
{
    const char *expect = json_string_value(json_object_get(op, "expect"));
    bool refused = expect != NULL && strcmp(expect, "refused") == 0;
    assert_int_equal(status, refused ? MRD_ERR_STATE : MRD_OK);
}

static void reserve(player *p, const json_t *op)
{
    mrd__room room;
    mrd_error error = {0};
    mrd_status status = mrd__recording_room(p->recording, KIT_PAYLOAD, 0, true, &room, &error);
    expect_refusal(op, status);
    const char *why = json_string_value(json_object_get(op, "why"));
    if (status != MRD_OK && why != NULL && strcmp(why, "writer failed") == 0)
        assert_string_equal(error.code, "writer_failed");
    if (status != MRD_OK) return;
    mrd__slot slot;
    uint8_t payload[KIT_PAYLOAD];
    uint64_t want = number(op, "expectSeq");
    size_t size = kit_payload(want, payload);
    mrd__recording_reserve(p->recording, &room, MRD__RECORD_RAW, size, &slot);
    assert_int_equal(slot.sequence, want);
    assert_true(want <= SLOTS);
    if (size > 0) memcpy(slot.payload, payload, size);
    p->slots[want] = slot;
}

static void write_one(player *p, const json_t *op, bool fails)
{
    mrd_error error = {0};
    if (fails) {
        const char *name = json_string_value(json_object_get(op, "errno"));
        assert_string_equal(name, "ENOSPC");
        p->faults.number = ENOSPC;
        p->faults.always = true;
        p->faults.fail_at = p->faults.calls + 1;
    }
    assert_true(mrd__recording_commit(p->recording, &p->slots[number(op, "seq")]));
    mrd_status status = mrd__recording_drain(p->recording, &error);
    assert_int_equal(status, fails ? MRD_ERR_IO : MRD_OK);
    p->faults.fail_at = 0;
}

static void finalize(player *p, const json_t *op)
{
    mrd_error error = {0};
    mrd__finish end = {.end_event = MRD__STR("end")};
    mrd_status status = mrd__recording_finish(p->recording, &end, &error);
    expect_refusal(op, status);
    const json_t *want = json_object_get(op, "unconsumed");
    mrd__missing missing[8];
    if (status == MRD_OK) return;
    size_t count = mrd__recording_missing(p->recording, missing, 8);
    size_t at = 0;
    for (size_t i = 0; i < count; i++)
        for (uint64_t n = missing[i].from; n <= missing[i].to; n++)
            assert_int_equal((uint64_t)json_integer_value(json_array_get(want, at++)), n);
    assert_int_equal(at, json_array_size(want));
    p->refused_with = kit_read(p->k.open_dir, NULL, NULL);
}

static void play(player *p, const char *text)
{
    json_t *op = json_loads(text, 0, NULL);
    assert_non_null(op);
    const char *name = json_string_value(json_object_get(op, "op"));
    mrd_error error = {0};
    if (strcmp(name, "reserve") == 0)
        reserve(p, op);
    else if (strcmp(name, "write") == 0)
        write_one(p, op, false);
    else if (strcmp(name, "write_fail") == 0)
        write_one(p, op, true);
    else if (strcmp(name, "write_retry") == 0)
        assert_int_equal(mrd__recording_retry(p->recording, &error), MRD_OK);
    else if (strcmp(name, "finalize") == 0)
        finalize(p, op);
    else
        fail_msg("the case has an operation %s", name);
    json_decref(op);
}

static void begin(player *p)
{
    *p = (player){0};
    kit_begin(&p->k);
    kit_faults_init(&p->faults, mrd__files_system());
    mrd__recording_options options = {
        .dir = p->k.dir, .no_thread = true, .files = &p->faults.files};
    mrd_error error = {0};
    assert_int_equal(mrd__recording_create(&options, &p->recording, &error), MRD_OK);
}

static void play_lines(player *p, char *text)
{
    for (char *line = text; *line != '\0';) {
        char *end = strchrnul(line, '\n');
        char *next = *end == '\0' ? end : end + 1;
        *end = '\0';
        if (line != end) play(p, line);
        line = next;
    }
}

static void test_own(void **state)
{
    (void)state;
    player p;
    char ops[] = "{\"op\":\"reserve\",\"expectSeq\":1}\n{\"op\":\"reserve\",\"expectSeq\":2}\n"
                 "{\"op\":\"reserve\",\"expectSeq\":3}\n{\"op\":\"write\",\"seq\":1}\n"
                 "{\"op\":\"write_fail\",\"seq\":2,\"errno\":\"ENOSPC\"}\n"
                 "{\"op\":\"finalize\",\"expect\":\"refused\",\"unconsumed\":[2,3]}\n"
                 "{\"op\":\"reserve\",\"expect\":\"refused\",\"why\":\"writer failed\"}\n"
                 "{\"op\":\"write_retry\",\"seq\":2}\n"
                 "{\"op\":\"finalize\",\"expect\":\"refused\",\"unconsumed\":[3]}\n"
                 "{\"op\":\"reserve\",\"expectSeq\":4}\n{\"op\":\"write\",\"seq\":4}\n"
                 "{\"op\":\"write\",\"seq\":3}\n{\"op\":\"finalize\",\"expect\":\"completed\"}\n";
    begin(&p);
    play_lines(&p, ops);
    mrd__recording_destroy(&p.recording);
    mrd__verify_result result = kit_sound(p.k.dir, NULL);
    assert_true(result.completed);
    assert_int_equal(kit_read(p.k.dir, NULL, NULL), 4);
    kit_end(&p.k);
}

/* The retry never succeeds: incomplete, with the gap. */
static void test_never_written(void **state)
{
    (void)state;
    player p;
    char ops[] = "{\"op\":\"reserve\",\"expectSeq\":1}\n{\"op\":\"reserve\",\"expectSeq\":2}\n"
                 "{\"op\":\"reserve\",\"expectSeq\":3}\n{\"op\":\"reserve\",\"expectSeq\":4}\n"
                 "{\"op\":\"reserve\",\"expectSeq\":5}\n{\"op\":\"write\",\"seq\":1}\n"
                 "{\"op\":\"write\",\"seq\":2}\n{\"op\":\"write\",\"seq\":3}\n"
                 "{\"op\":\"write_fail\",\"seq\":4,\"errno\":\"ENOSPC\"}\n";
    begin(&p);
    play_lines(&p, ops);
    const char *reasons[] = {"disk_full"};
    mrd__finish end = {.end_event = MRD__STR("end"), .reasons = reasons, .reason_count = 1};
    mrd_error error = {0};
    p.faults.number = ENOSPC;
    p.faults.always = true;
    p.faults.fail_at = p.faults.calls + 1;
    mrd_status status = mrd__recording_finish(p.recording, &end, &error);
    assert_int_equal(status, MRD_ERR_IO); /* nothing can be written: no seal either */
    p.faults.fail_at = 0;
    assert_int_equal(mrd__recording_finish(p.recording, &end, &error), MRD_OK);
    mrd__recording_destroy(&p.recording);
    mrd__verify_result result = kit_sound(p.k.dir, NULL);
    assert_true(result.sealed && !result.completed);
    assert_int_equal(kit_read(p.k.dir, NULL, NULL), 3);
    mrd__stored *stored;
    assert_int_equal(mrd__stored_open(p.k.dir, NULL, &stored, &error), MRD_OK);
    assert_non_null(strstr(mrd__stored_manifest(stored).data, "\"missing\":[[4,5]]"));
    mrd__stored_close(&stored);
    kit_end(&p.k);
}

static void expect_list(const json_t *want, uint64_t last)
{
    assert_int_equal(json_array_size(want), last);
    for (uint64_t i = 0; i < last; i++)
        assert_int_equal((uint64_t)json_integer_value(json_array_get(want, i)), i + 1);
}

static void test_shared(void **state)
{
    (void)state;
    mrd__buf ops = {0};
    mrd__buf expected = {0};
    mrd_error error = {0};
    if (!mrd__file_exists(MRD_SOURCE_DIR CASE "ops.ndjson")) skip();
    assert_int_equal(mrd__file_read(&ops, MRD_SOURCE_DIR CASE "ops.ndjson", 1 << 20, &error), 0);
    assert_int_equal(
        mrd__file_read(&expected, MRD_SOURCE_DIR CASE "expected.json", 1 << 20, &error), 0);
    player p;
    begin(&p);
    play_lines(&p, ops.data);
    mrd__recording_destroy(&p.recording);
    assert_true(kit_sound(p.k.dir, NULL).completed);
    json_t *want = json_loads(expected.data, 0, NULL);
    expect_list(json_object_get(want, "onDiskAfterRefusal"), p.refused_with);
    expect_list(json_object_get(want, "bodyAfterCompletion"), kit_read(p.k.dir, NULL, NULL));
    json_decref(want);
    mrd__buf_reset(&ops);
    mrd__buf_reset(&expected);
    kit_end(&p.k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_never_written),
        cmocka_unit_test(test_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
