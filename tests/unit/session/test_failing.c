/* Every call on files fails once, and from there on: while recording and finishing, while
 * recovering, while verifying and reading. For each number n until no call has it. */
#include "disk.h"
#include "kit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define RECORDS 60

static const struct {
    const char *name;
    int number; /* 0: a short count */
    bool always;
} kinds[] = {{"EIO once", EIO, false},
             {"EIO from there on", EIO, true},
             {"ENOSPC once", ENOSPC, false},
             {"ENOSPC from there on", ENOSPC, true},
             {"EINTR once", EINTR, false},
             {"a short count once", 0, false},
             {"short counts from there on", 0, true}};
#define KINDS (sizeof kinds / sizeof *kinds)

typedef struct trial {
    disk d;
    kit_faults faults;
    uint64_t durable, reserved;
    size_t sync_bytes; /* 0: no backlog is ever large */
    bool created, finished, gave_up;
} trial;

static void begin(trial *t, size_t kind, unsigned long n)
{
    *t = (trial){0};
    disk_begin(&t->d);
    kit_faults_init(&t->faults, &t->d.files);
    t->faults.number = kinds[kind].number;
    t->faults.always = kinds[kind].always;
    t->faults.fail_at = n;
}

static void note_durable(void *ctx, uint64_t sequence)
{
    trial *t = ctx;
    assert_true(sequence > t->durable);
    t->durable = sequence;
}

/* A failure says what it is; then it is tried again, as a program would once or twice. */
static bool stopped(trial *t, mrd_status status, const mrd_error *error)
{
    if (status == MRD_OK) return false;
    assert_true(error->message[0] != '\0' && error->code[0] != '\0');
    t->gave_up = true;
    return true;
}

static bool drained(trial *t, mrd__recording *recording)
{
    mrd_error error = {0};
    mrd_status status = mrd__recording_drain(recording, &error);
    for (int i = 0; status != MRD_OK && i < 2; i++)
        status = mrd__recording_retry(recording, &error);
    return !stopped(t, status, &error);
}

static void fill(trial *t, mrd__recording *recording)
{
    static const char *const names[] = {"event"};
    mrd_error error = {0};
    mrd__derived *domain = NULL;
    mrd_status status =
        mrd__recording_derive(recording, MRD__FILE_DOMAIN, names, 1, &domain, &error);
    if (stopped(t, status, &error)) return;
    for (uint64_t i = 1; i <= RECORDS; i++) {
        status = kit_append(recording, &error);
        if (stopped(t, status, &error)) return;
        t->reserved = i;
        mrd__str part = MRD__STR("an event");
        status = mrd__derived_append(domain, MRD__RECORD_DERIVED, i, &part, 1, &error);
        if (stopped(t, status, &error)) return;
        if (i % 10 == 0 && !drained(t, recording)) return;
    }
    status = mrd__recording_file(recording, "report.json", MRD__STR("{}"), &error);
    if (stopped(t, status, &error)) return;
}

static void record(trial *t)
{
    mrd__recording_options options = {.dir = "/s",
                                      .uuid = (const uint8_t *)"0123456789abcdef",
                                      .files = &t->faults.files,
                                      .no_thread = true,
                                      .durable = note_durable,
                                      .durable_ctx = t,
                                      .ingress_bytes = 65536,
                                      .segment_bytes = 2500,
                                      .sync_bytes = t->sync_bytes,
                                      .checkpoint_records = 17};
    mrd__recording *recording;
    mrd_error error = {0};
    if (stopped(t, mrd__recording_create(&options, &recording, &error), &error)) return;
    t->created = true;
    fill(t, recording);
    mrd__finish end = {.end_event = MRD__STR("end")};
    mrd_status status = MRD_ERR_IO;
    for (int i = 0; !t->gave_up && status != MRD_OK && i < 3; i++)
        status = mrd__recording_finish(recording, &end, &error);
    t->finished = status == MRD_OK;
    const char *reasons[] = {"disk"};
    end.reasons = reasons;
    end.reason_count = 1;
    if (!t->finished && mrd__recording_finish(recording, &end, &error) != MRD_OK)
        assert_true(error.message[0] != '\0');
    mrd__recording_destroy(&recording);
}

static void expect_closed(const disk *d)
{
    for (size_t i = 0; i < d->open.count; i++)
        assert_false(d->open.data[i].used);
}

/* Without faults from here on: what is there is sealed and true. */
static void check_recorded(trial *t, const char *kind, unsigned long n)
{
    mrd__recover_result result;
    mrd__damage damage = {0};
    mrd_error error = {0};
    mrd_status status =
        mrd__session_recover("/s", &t->d.files, NULL, NULL, &result, &damage, &error);
    if (status == MRD_ERR_NOT_FOUND && !t->created) return;
    if (status != MRD_OK)
        fail_msg("%s at call %lu: %s: %s (%s)", kind, n, error.code, error.message, damage.file);
    if (result.sequences < t->durable)
        fail_msg("%s at call %lu: %llu durable, %llu there", kind, n,
                 (unsigned long long)t->durable, (unsigned long long)result.sequences);
    assert_int_equal(kit_read("/s", &t->d.files, NULL), result.sequences);
    mrd__verify_result sound = kit_sound("/s", &t->d.files);
    if (t->finished && !sound.completed) fail_msg("%s at call %lu: not completed", kind, n);
    if (sound.completed && result.sequences != RECORDS)
        fail_msg("%s at call %lu: completed with %llu of %llu records", kind, n,
                 (unsigned long long)result.sequences, (unsigned long long)RECORDS);
    expect_closed(&t->d);
}

static void fail_each(size_t sync_bytes, uint64_t *tried, uint64_t *survived)
{
    for (size_t kind = 0; kind < KINDS; kind++) {
        for (unsigned long n = 1;; n++) {
            trial t;
            begin(&t, kind, n);
            t.sync_bytes = sync_bytes;
            record(&t);
            bool failed = t.faults.failed > 0;
            if (!failed) assert_true(t.finished);
            check_recorded(&t, kinds[kind].name, n);
            disk_end(&t.d);
            if (!failed) break;
            ++*tried;
            if (t.finished) ++*survived;
        }
    }
}

static void test_recording(void **state)
{
    (void)state;
    uint64_t tried = 0;
    uint64_t survived = 0;
    fail_each(0, &tried, &survived);
    /* Records are encoded while a sync is under way: one to three of them. */
    fail_each(600, &tried, &survived);
    print_message("session-faults: every call failing while recording and finishing: %llu tried, "
                  "%llu completed all the same, %llu refused and recovered; 0 durable records "
                  "lost, 0 completed with less, 0 crashes\n",
                  (unsigned long long)tried, (unsigned long long)survived,
                  (unsigned long long)(tried - survived));
}

/* A session left open by a crash, with a torn tail. */
static void leave_open(disk *d)
{
    trial t;
    begin(&t, 0, 0);
    mrd__recording_options options = {.dir = "/s",
                                      .uuid = (const uint8_t *)"0123456789abcdef",
                                      .files = &t.d.files,
                                      .no_thread = true,
                                      .ingress_bytes = 65536,
                                      .segment_bytes = 2500};
    mrd__recording *recording;
    mrd_error error = {0};
    assert_int_equal(mrd__recording_create(&options, &recording, &error), MRD_OK);
    fill(&t, recording);
    mrd__recording_destroy(&recording);
    char path[48];
    for (unsigned i = 1; i < 99; i++) {
        snprintf(path, sizeof path, "/s.open/raw/%06u.mrl", i + 1);
        if (disk_file(&t.d, path) != NULL) continue;
        snprintf(path, sizeof path, "/s.open/raw/%06u.mrl", i);
        mrd__buf_text(disk_file(&t.d, path), "MRDR torn");
        break;
    }
    disk_copy(d, &t.d);
    disk_end(&t.d);
}

/* False when no call had that number. */
static bool recover_failing(const disk *left, const disk *want, size_t kind, unsigned long n)
{
    disk d;
    kit_faults faults;
    mrd__recover_result result;
    mrd_error error = {0};
    disk_copy(&d, left);
    kit_faults_init(&faults, &d.files);
    faults.number = kinds[kind].number;
    faults.always = kinds[kind].always;
    faults.fail_at = n;
    mrd_status status =
        mrd__session_recover("/s", &faults.files, NULL, NULL, &result, NULL, &error);
    if (status != MRD_OK && error.message[0] == '\0')
        fail_msg("%s at call %lu: no message", kinds[kind].name, n);
    if (status == MRD_ERR_FORMAT)
        fail_msg("%s at call %lu: called damaged: %s", kinds[kind].name, n, error.message);
    expect_closed(&d);
    status = mrd__session_recover("/s", &d.files, NULL, NULL, &result, NULL, &error);
    if (status != MRD_OK) fail_msg("%s at call %lu: then %s", kinds[kind].name, n, error.message);
    if (!disk_same(&d, want)) fail_msg("%s at call %lu: other bytes", kinds[kind].name, n);
    disk_end(&d);
    return faults.failed > 0;
}

static void test_recovering(void **state)
{
    (void)state;
    disk left;
    disk want;
    uint64_t tried = 0;
    mrd__recover_result result;
    mrd_error error = {0};
    leave_open(&left);
    disk_copy(&want, &left);
    assert_int_equal(mrd__session_recover("/s", &want.files, NULL, NULL, &result, NULL, &error),
                     MRD_OK);
    assert_int_equal(result.cut_bytes, 9);
    for (size_t kind = 0; kind < KINDS; kind++)
        for (unsigned long n = 1; recover_failing(&left, &want, kind, n); n++)
            tried++;
    print_message("session-faults: every call failing while recovering: %llu tried, each then "
                  "recovered to the same bytes\n",
                  (unsigned long long)tried);
    disk_end(&left);
    disk_end(&want);
}

/* A disk that cannot be read is not a session that is damaged. */
static void test_reading(void **state)
{
    (void)state;
    disk d;
    uint64_t tried = 0;
    mrd__recover_result result;
    mrd_error error = {0};
    leave_open(&d);
    assert_int_equal(mrd__session_recover("/s", &d.files, NULL, NULL, &result, NULL, &error), 0);
    for (size_t kind = 0; kind < KINDS; kind++) {
        unsigned long n = 0;
        for (bool failed = true; failed;) {
            kit_faults faults;
            mrd__verify_result verified;
            kit_faults_init(&faults, &d.files);
            faults.number = kinds[kind].number;
            faults.always = kinds[kind].always;
            faults.fail_at = ++n;
            error = (mrd_error){0};
            mrd_status status = mrd__session_verify("/s", &faults.files, &verified, &error);
            failed = faults.failed > 0;
            if (status == MRD_OK && !(verified.sound && verified.sealed))
                fail_msg("%s at call %lu: called damaged: %s %s", kinds[kind].name, n,
                         verified.damage.file, verified.damage.what);
            if (status != MRD_OK) assert_true(error.message[0] != '\0');
            faults.calls = 0;
            uint64_t last = kit_read("/s", &faults.files, &status);
            failed = failed || faults.failed > 0;
            if (status == MRD_OK) assert_int_equal(last, RECORDS);
            if (status == MRD_ERR_FORMAT)
                fail_msg("%s at call %lu: read as damaged", kinds[kind].name, n);
            expect_closed(&d);
            if (failed) tried++;
        }
    }
    print_message("session-faults: every call failing while verifying and reading: %llu tried, "
                  "each told as a failure to read or answered rightly\n",
                  (unsigned long long)tried);
    disk_end(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recording),
        cmocka_unit_test(test_recovering),
        cmocka_unit_test(test_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
