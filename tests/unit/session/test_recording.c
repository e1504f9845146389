/* A session from its first record to its seal, and what is refused on the way. */
#include "kit.h"

#include "base/alloc.h"
#include "base/os.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char facts[] = "{\"registry\":\"r1\",\"sources\":[{\"id\":\"a\",\"ok\":3}]}";

static const char *const sample_names[] = {"sample", "frame"};

static void append(mrd__recording *recording, uint64_t count)
{
    mrd_error error = {0};
    for (uint64_t i = 0; i < count; i++) {
        mrd_status status = kit_append(recording, &error);
        if (status == MRD_ERR_LIMIT) status = mrd__recording_drain(recording, &error), i--;
        kit_must(status, &error);
    }
}

static void test_whole(void **state)
{
    (void)state;
    kit k;
    kit_begin(&k);
    mrd__recording *recording =
        kit_create(&k, (mrd__recording_options){.identity = "{\"target\":{\"pid\":7}}",
                                                .segment_bytes = 100000,
                                                .checkpoint_records = 500});
    mrd_error error = {0};
    mrd__derived *metrics;
    kit_must(mrd__recording_derive(recording, MRD__FILE_METRICS, sample_names, 2, &metrics, &error),
             &error);
    for (int i = 0; i < 3000; i++) {
        append(recording, 1);
        mrd__str part = MRD__STR("a sample");
        kit_must(
            mrd__derived_append(metrics, 16 + (unsigned)i % 2, (uint64_t)i + 1, &part, 1, &error),
            &error);
    }
    kit_must(mrd__recording_file(recording, "report.json", MRD__STR("{}"), &error), &error);
    assert_string_equal(mrd__recording_dir(recording), k.open_dir);
    kit_finish(recording, facts);
    assert_string_equal(mrd__recording_dir(recording), k.dir);
    mrd__recording_destroy(&recording);
    mrd__verify_result result = kit_sound(k.dir, NULL);
    assert_true(result.sealed && result.completed);
    assert_int_equal(result.sequences, 3000);
    assert_true(result.segments >= 3);
    assert_int_equal(result.records, 3000 + 1 + 3001 / 500);
    assert_int_equal(kit_read(k.dir, NULL, NULL), 3000);
    struct stat info;
    char path[160];
    snprintf(path, sizeof path, "%s/raw/000001.mrl", k.dir);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0444);
    kit_end(&k);
}

static void test_lookup(void **state)
{
    (void)state;
    kit k;
    kit_begin(&k);
    mrd__recording *recording = kit_create(&k, (mrd__recording_options){.segment_bytes = 300000});
    append(recording, 12000);
    kit_finish(recording, facts);
    mrd__recording_destroy(&recording);
    mrd__stored *stored;
    mrd_error error = {0};
    kit_must(mrd__stored_open(k.dir, NULL, &stored, &error), &error);
    mrd__rng rng = {5};
    for (int i = 0; i < 300; i++) {
        uint64_t sequence = i == 0 ? 1 : i == 1 ? 12000 : 1 + mrd__rng_below(&rng, 12000);
        mrd__record record;
        mrd__buf out = {0};
        uint8_t want[KIT_PAYLOAD];
        kit_must(mrd__stored_lookup(stored, sequence, &record, &out, &error), &error);
        assert_int_equal(record.size, kit_payload(sequence, want));
        assert_int_equal(record.sequence, sequence);
        assert_memory_equal(record.payload, want, record.size);
        mrd__buf_reset(&out);
    }
    mrd__record record;
    mrd__buf out = {0};
    assert_int_equal(mrd__stored_lookup(stored, 12001, &record, &out, &error), MRD_ERR_NOT_FOUND);
    assert_int_equal(mrd__stored_lookup(stored, 0, &record, &out, &error), MRD_ERR_NOT_FOUND);
    mrd__buf_reset(&out);
    mrd__stored_close(&stored);
    kit_end(&k);
}

/* A reservation without a record: refused, then sealed as incomplete, with the number told. */
static void test_missing(void **state)
{
    (void)state;
    kit k;
    kit_begin(&k);
    mrd__recording *recording = kit_create(&k, (mrd__recording_options){0});
    mrd_error error = {0};
    append(recording, 3);
    mrd__room room;
    mrd__slot lost;
    kit_must(mrd__recording_room(recording, 10, 0, true, &room, &error), &error);
    mrd__finish end = {.end_event = MRD__STR("end")};
    assert_int_equal(mrd__recording_finish(recording, &end, &error), MRD_ERR_STATE);
    assert_string_equal(error.code, "reads_open");
    mrd__recording_reserve(recording, &room, MRD__RECORD_RAW, 10, &lost);
    append(recording, 2);
    assert_int_equal(mrd__recording_finish(recording, &end, &error), MRD_ERR_STATE);
    assert_string_equal(error.code, "reservations_open");
    assert_non_null(strstr(error.message, "sequences 4,"));
    mrd__missing missing[4];
    assert_int_equal(mrd__recording_missing(recording, missing, 4), 1);
    assert_true(missing[0].from == 4 && missing[0].to == 4);
    append(recording, 1); /* refused, and everything goes on */
    const char *reasons[] = {"reader_died"};
    end.reasons = reasons;
    end.reason_count = 1;
    kit_must(mrd__recording_finish(recording, &end, &error), &error);
    assert_false(mrd__recording_commit(recording, &lost));
    mrd__recording_destroy(&recording);
    mrd__verify_result result = kit_sound(k.dir, NULL);
    assert_true(result.sealed && !result.completed);
    assert_string_equal(result.reasons, "reader_died; reservations_missing");
    assert_int_equal(kit_read(k.dir, NULL, NULL), 7);
    mrd__stored *stored;
    kit_must(mrd__stored_open(k.dir, NULL, &stored, &error), &error);
    assert_non_null(strstr(mrd__stored_manifest(stored).data,
                           "\"reservations\":{\"consumed\":6,\"made\":7,\"missing\":[[4,4]]}"));
    mrd__stored_close(&stored);
    kit_end(&k);
}

/* The ingress is full: refused, counted, told in a gap, nothing renumbered, memory bounded. */
static void test_full(void **state)
{
    (void)state;
    kit k;
    kit_begin(&k);
    mrd__recording *recording =
        kit_create(&k, (mrd__recording_options){.no_thread = true, .ingress_bytes = 65536});
    mrd_error error = {0};
    uint64_t refused = 0;
    uint64_t taken = 0;
    for (int i = 0; i < 100000; i++) {
        mrd_status status = kit_append(recording, &error);
        assert_true(status == MRD_OK || status == MRD_ERR_LIMIT);
        *(status == MRD_OK ? &taken : &refused) += 1;
        if (i % 1000 == 999) kit_must(mrd__recording_pump(recording, &error), &error);
    }
    mrd__recording_state now;
    mrd__recording_state_get(recording, &now);
    assert_true(refused > 10000);
    assert_int_equal(now.refused, refused);
    assert_int_equal(now.reserved, taken);
    assert_true(now.ingress_peak <= 65536);
    kit_finish(recording, facts);
    mrd__recording_destroy(&recording);
    assert_true(kit_sound(k.dir, NULL).completed);
    assert_int_equal(kit_read(k.dir, NULL, NULL), taken);
    kit_end(&k);
}

/* The writer stands still for ten seconds of 50,000 events a second: all that is refused is
 * counted, memory is bounded, and the next record has the next number. */
static void test_stalled(void **state)
{
    (void)state;
    kit k;
    kit_begin(&k);
    mrd__recording *recording =
        kit_create(&k, (mrd__recording_options){.no_thread = true, .ingress_bytes = 65536});
    mrd_error error = {0};
    uint64_t refused = 0;
    uint64_t tried = kit_count_of(50000, 500000);
    for (uint64_t i = 0; i < tried; i++) {
        mrd_status status = kit_append(recording, &error);
        assert_true(status == MRD_OK || status == MRD_ERR_LIMIT);
        refused += status != MRD_OK;
    }
    mrd__recording_state now;
    mrd__recording_state_get(recording, &now);
    assert_int_equal(now.refused, refused);
    assert_int_equal(now.reserved, tried - refused);
    assert_true(now.ingress_peak <= 65536 && now.written == 0);
    kit_must(mrd__recording_drain(recording, &error), &error);
    append(recording, 1);
    kit_finish(recording, facts);
    mrd__recording_destroy(&recording);
    assert_true(kit_sound(k.dir, NULL).completed);
    assert_int_equal(kit_read(k.dir, NULL, NULL), tried - refused + 1);
    print_message("session-faults: ingress full: %llu records tried while the writer stood still, "
                  "%llu taken, %llu refused and counted, at most 65536 bytes, nothing renumbered\n",
                  (unsigned long long)tried, (unsigned long long)(tried - refused),
                  (unsigned long long)refused);
    kit_end(&k);
}

typedef struct reader {
    mrd__recording *recording;
    _Atomic uint64_t *sum;
    uint64_t count;
    pthread_t thread;
} reader;

/* Payload: the sequence itself. */
static void *read_source(void *arg)
{
    reader *r = arg;
    for (uint64_t i = 0; i < r->count; i++) {
        mrd__room room;
        mrd__slot slot;
        mrd_error error = {0};
        kit_must(mrd__recording_room(r->recording, 8, UINT64_C(10000000000), true, &room, &error),
                 &error);
        mrd__recording_reserve(r->recording, &room, MRD__RECORD_RAW, 8, &slot);
        memcpy(slot.payload, &slot.sequence, 8);
        *r->sum += slot.sequence;
        assert_true(mrd__recording_commit(r->recording, &slot));
    }
    return NULL;
}

static mrd_status check_own(void *ctx, const mrd__record *record, mrd_error *error)
{
    (void)error;
    if (record->type == MRD__RECORD_RAW) {
        assert_memory_equal(record->payload, &record->sequence, 8);
        *(uint64_t *)ctx += record->sequence;
    }
    return MRD_OK;
}

static void test_threads(void **state)
{
    (void)state;
    kit k;
    kit_begin(&k);
    mrd__recording *recording = kit_create(
        &k, (mrd__recording_options){.ingress_bytes = 16384, .segment_bytes = (uint64_t)1 << 20});
    _Atomic uint64_t sum = 0;
    reader readers[4];
    for (int i = 0; i < 4; i++) {
        readers[i] = (reader){.recording = recording, .sum = &sum, .count = 20000};
        pthread_create(&readers[i].thread, NULL, read_source, &readers[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(readers[i].thread, NULL);
    kit_finish(recording, facts);
    mrd__recording_state now;
    mrd__recording_state_get(recording, &now);
    assert_int_equal(now.refused, 0);
    mrd__recording_destroy(&recording);
    assert_true(kit_sound(k.dir, NULL).completed);
    mrd__stored *stored;
    mrd_error error = {0};
    uint64_t found = 0;
    kit_must(mrd__stored_open(k.dir, NULL, &stored, &error), &error);
    kit_must(mrd__stored_read(stored, check_own, &found, NULL, &error), &error);
    mrd__stored_close(&stored);
    assert_int_equal(found, sum);
    assert_int_equal(found, UINT64_C(80000) * 80001 / 2);
    kit_end(&k);
}

/* A sync fails: the segment ends at the last one that did not, the rest is in the next. */
static void test_failed_sync(void **state)
{
    (void)state;
    for (unsigned long which = 1; which < 5; which++) {
        kit k;
        kit_faults faults;
        kit_begin(&k);
        kit_faults_init(&faults, mrd__files_system());
        faults.number = EIO;
        mrd__recording *recording =
            kit_create(&k, (mrd__recording_options){
                               .no_thread = true, .files = &faults.files, .checkpoint_records = 5});
        mrd_error error = {0};
        append(recording, 10);
        kit_must(mrd__recording_drain(recording, &error), &error);
        append(recording, 10);
        faults.fail_at = faults.calls + which; /* write, then fdatasync, then what follows it */
        mrd_status status = mrd__recording_drain(recording, &error);
        if (status != MRD_OK) kit_must(mrd__recording_retry(recording, &error), &error);
        append(recording, 10);
        if (faults.failed == 0) {
            status = mrd__recording_drain(recording, &error);
            if (status != MRD_OK) kit_must(mrd__recording_retry(recording, &error), &error);
        }
        faults.fail_at = 0;
        kit_finish(recording, facts);
        mrd__recording_destroy(&recording);
        assert_true(kit_sound(k.dir, NULL).completed);
        assert_int_equal(kit_read(k.dir, NULL, NULL), 30);
        kit_end(&k);
    }
}

/* A finish that fails anywhere, then a retry and a finish: every segment is listed. */
static void test_finish_again(void **state)
{
    (void)state;
    mrd__finish end = {.end_event = MRD__STR("{\"event\":\"end\"}"), .facts = "{}"};
    bool reached = false;
    for (unsigned long which = 1; !reached; which++) {
        kit k;
        kit_faults faults;
        kit_begin(&k);
        kit_faults_init(&faults, mrd__files_system());
        faults.number = EIO;
        mrd__recording *recording =
            kit_create(&k, (mrd__recording_options){.files = &faults.files});
        mrd_error error = {0};
        append(recording, 10);
        kit_must(mrd__recording_drain(recording, &error), &error);
        faults.fail_at = faults.calls + which;
        mrd_status status = mrd__recording_finish(recording, &end, &error);
        reached = faults.failed == 0;
        if (status != MRD_OK) {
            kit_must(mrd__recording_retry(recording, &error), &error);
            kit_must(mrd__recording_finish(recording, &end, &error), &error);
        }
        mrd__recording_destroy(&recording);
        assert_true(kit_sound(k.dir, NULL).sealed);
        assert_int_equal(kit_read(k.dir, NULL, NULL), 10);
        kit_end(&k);
    }
}

static void test_refused_names(void **state)
{
    (void)state;
    kit k;
    kit_begin(&k);
    mrd__recording *recording = kit_create(&k, (mrd__recording_options){0});
    mrd_error error = {0};
    mrd__recording *second;
    mrd__recording_options options = {.dir = k.dir};
    assert_int_equal(mrd__recording_create(&options, &second, &error), MRD_ERR_ARGUMENT);
    assert_string_equal(error.code, "exists");
    static const char *const bad[] = {"session.json", "../x", "raw/x", "seal.json", "", ".x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(mrd__recording_file(recording, bad[i], MRD__STR(""), &error),
                         MRD_ERR_ARGUMENT);
    mrd__finish end = {.facts = "{\"state\":\"completed\"}"};
    assert_int_equal(mrd__recording_finish(recording, &end, &error), MRD_ERR_ARGUMENT);
    assert_string_equal(error.code, "facts");
    mrd__recover_result recovered;
    assert_int_equal(mrd__session_recover(k.dir, NULL, NULL, NULL, &recovered, NULL, &error),
                     MRD_ERR_STATE);
    assert_string_equal(error.code, "recording");
    end.facts = "{}";
    kit_must(mrd__recording_finish(recording, &end, &error), &error);
    mrd__recording_destroy(&recording);
    assert_int_equal(mrd__recording_create(&options, &second, &error), MRD_ERR_ARGUMENT);
    kit_must(mrd__session_recover(k.dir, NULL, NULL, NULL, &recovered, NULL, &error), &error);
    assert_true(recovered.was_sealed);
    kit_end(&k);
}

/* Left without a finish: everything that was committed is recovered. */
static void test_abandoned(void **state)
{
    (void)state;
    kit k;
    kit_begin(&k);
    mrd__recording *recording = kit_create(&k, (mrd__recording_options){.segment_bytes = 20000});
    append(recording, 1000);
    mrd__recording_destroy(&recording);
    mrd__verify_result open = kit_sound(k.dir, NULL);
    assert_false(open.sealed);
    mrd__recover_result recovered;
    mrd_error error = {0};
    kit_must(mrd__session_recover(k.open_dir, NULL, NULL, NULL, &recovered, NULL, &error), &error);
    assert_int_equal(recovered.sequences, 1000);
    assert_int_equal(recovered.cut_bytes, 0);
    mrd__verify_result result = kit_sound(k.dir, NULL);
    assert_true(result.sealed && !result.completed);
    assert_string_equal(result.reasons, "crash");
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),        cmocka_unit_test(test_lookup),
        cmocka_unit_test(test_missing),      cmocka_unit_test(test_full),
        cmocka_unit_test(test_stalled),      cmocka_unit_test(test_threads),
        cmocka_unit_test(test_failed_sync),  cmocka_unit_test(test_abandoned),
        cmocka_unit_test(test_finish_again), cmocka_unit_test(test_refused_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
