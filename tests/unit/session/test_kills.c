/* kill -9 at random moments of a real writer: a process of its own with three readers and the
 * writer's thread, on a real disk. It tells over a pipe what it was told is durable; all of that
 * must be there afterwards. (What was written survives a killed process, synced or not: that syncs
 * are what they should be is what test_power.c is for.) */
#include "kit.h"

#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAYLOAD 64
#define READERS 3
#define BURST 400 /* records of a reader; many writers end before they are killed */

static void rest(uint64_t ns)
{
    struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    nanosleep(&time, NULL);
}

static void payload_of(uint64_t sequence, uint8_t out[PAYLOAD])
{
    mrd__rng rng = {sequence};
    for (int i = 0; i < PAYLOAD; i++)
        out[i] = (uint8_t)mrd__rng_next(&rng);
}

/* ---- The writer: the child ---- */

static void tell_durable(void *ctx, uint64_t sequence)
{
    if (write(*(int *)ctx, &sequence, sizeof sequence) != sizeof sequence) _exit(3);
}

static void *read_source(void *arg)
{
    mrd__recording *recording = arg;
    mrd_error error = {0};
    for (int i = 0; i < BURST; i++) {
        mrd__room room;
        mrd__slot slot;
        if (mrd__recording_room(recording, PAYLOAD, UINT64_C(5000000000), true, &room, &error) !=
            MRD_OK)
            _exit(4);
        mrd__recording_reserve(recording, &room, MRD__RECORD_RAW, PAYLOAD, &slot);
        payload_of(slot.sequence, slot.payload);
        if (!mrd__recording_commit(recording, &slot)) _exit(5);
        if (i % 16 == 0) rest(300000);
    }
    return NULL;
}

static void write_session(const char *dir, uint64_t seed, int out)
{
    mrd__rng rng = {seed};
    mrd__recording_options options = {.dir = dir,
                                      .uuid = (const uint8_t *)"0123456789abcdef",
                                      .durable = tell_durable,
                                      .durable_ctx = &out,
                                      .ingress_bytes = 65536,
                                      .segment_bytes = 8000 + mrd__rng_below(&rng, 60000),
                                      .sync_ns = 1000000,
                                      .sync_records = 1 + (uint32_t)mrd__rng_below(&rng, 100),
                                      .checkpoint_records = 50};
    mrd__recording *recording;
    mrd_error error = {0};
    pthread_t readers[READERS];
    static const char *const names[] = {"event"};
    mrd__derived *domain;
    if (mrd__recording_create(&options, &recording, &error) != MRD_OK) _exit(6);
    if (mrd__recording_derive(recording, MRD__FILE_DOMAIN, names, 1, &domain, &error) != MRD_OK)
        _exit(7);
    for (int i = 0; i < READERS; i++)
        pthread_create(&readers[i], NULL, read_source, recording);
    mrd__str part = MRD__STR("an event");
    for (uint64_t i = 0; i < 3000; i++)
        if (mrd__derived_append(domain, MRD__RECORD_DERIVED, i, &part, 1, &error) != MRD_OK)
            _exit(8);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    if (mrd__recording_file(recording, "report.json", MRD__STR("{}"), &error) != MRD_OK) _exit(9);
    mrd__finish end = {.end_event = MRD__STR("end")};
    if (mrd__recording_finish(recording, &end, &error) != MRD_OK) _exit(10);
    mrd__recording_destroy(&recording);
    _exit(0);
}

/* ---- The killer ---- */

static mrd_status look(void *ctx, const mrd__record *record, mrd_error *error)
{
    uint64_t *last = ctx;
    (void)error;
    if (record->type != MRD__RECORD_RAW) return MRD_OK;
    uint8_t want[PAYLOAD];
    payload_of(record->sequence, want);
    assert_int_equal(record->sequence, *last + 1);
    assert_int_equal(record->size, PAYLOAD);
    assert_memory_equal(record->payload, want, PAYLOAD);
    *last = record->sequence;
    return MRD_OK;
}

static uint64_t read_all(const char *dir)
{
    mrd__stored *stored;
    mrd_error error = {0};
    uint64_t last = 0;
    assert_int_equal(mrd__stored_open(dir, NULL, &stored, &error), MRD_OK);
    if (mrd__stored_read(stored, look, &last, NULL, &error) != MRD_OK)
        fail_msg("%s: %s", error.file, error.message);
    mrd__stored_close(&stored);
    return last;
}

typedef struct tally {
    uint64_t kills, ended, nothing, torn, sealed, durable, recovered;
} tally;

/* What the child told before it died. */
static uint64_t told_durable(int in)
{
    uint64_t newest = 0;
    uint64_t sequence;
    while (read(in, &sequence, sizeof sequence) == sizeof sequence) {
        assert_true(sequence > newest);
        newest = sequence;
    }
    return newest;
}

static void check(const kit *k, uint64_t seed, uint64_t durable, bool ended, tally *t)
{
    mrd__recover_result result;
    mrd_error error = {0};
    char copy[112];
    char copy_open[120];
    snprintf(copy, sizeof copy, "%s2", k->dir);
    snprintf(copy_open, sizeof copy_open, "%s.open", copy);
    bool open = access(k->open_dir, F_OK) == 0;
    if (open) kit_copy(k->open_dir, copy_open);
    mrd_status status = mrd__session_recover(k->dir, NULL, NULL, NULL, &result, NULL, &error);
    if (status == MRD_ERR_NOT_FOUND && durable == 0 && !ended) {
        t->nothing++;
        return;
    }
    if (status != MRD_OK) fail_msg("kill %llu: %s", (unsigned long long)seed, error.message);
    if (result.sequences < durable)
        fail_msg("kill %llu: %llu durable, %llu recovered", (unsigned long long)seed,
                 (unsigned long long)durable, (unsigned long long)result.sequences);
    assert_int_equal(read_all(k->dir), result.sequences);
    mrd__verify_result sound = kit_sound(k->dir, NULL);
    assert_true(sound.sealed);
    if (ended) assert_true(sound.completed);
    if (sound.completed) assert_int_equal(sound.sequences, READERS * BURST);
    if (open) {
        assert_int_equal(mrd__session_recover(copy, NULL, NULL, NULL, &result, NULL, &error),
                         MRD_OK);
        assert_true(kit_same(k->dir, copy));
    }
    if (result.cut_bytes > 0) t->torn++;
    if (sound.completed) t->sealed++;
    t->durable += durable;
    t->recovered += result.sequences;
}

static void kill_one(uint64_t seed, tally *t)
{
    kit k;
    int ends[2];
    kit_begin(&k);
    mrd__rng rng = {seed};
    assert_int_equal(pipe(ends), 0);
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        write_session(k.dir, seed, ends[1]);
    }
    close(ends[1]);
    /* One in four at any time from the fork on; the others once something is durable. */
    struct pollfd first = {.fd = ends[0], .events = POLLIN};
    if (mrd__rng_below(&rng, 4) != 0) assert_int_equal(poll(&first, 1, 20000), 1);
    rest(mrd__rng_below(&rng, mrd__rng_below(&rng, 2) == 0 ? 120000000 : 30000000));
    kill(child, SIGKILL);
    int state = 0;
    assert_int_equal(waitpid(child, &state, 0), child);
    bool ended = WIFEXITED(state);
    if (ended && WEXITSTATUS(state) != 0)
        fail_msg("writer %llu: exit %d", (unsigned long long)seed, WEXITSTATUS(state));
    uint64_t durable = told_durable(ends[0]);
    close(ends[0]);
    check(&k, seed, durable, ended, t);
    *(ended ? &t->ended : &t->kills) += 1;
    kit_end(&k);
}

static void test_kills(void **state)
{
    (void)state;
    tally t = {0};
    uint64_t want = kit_count_of(50, 600);
    for (uint64_t seed = 1; t.kills < want && seed < 4 * want; seed++)
        kill_one(seed, &t);
    print_message(
        "session-faults: kill -9: %llu kills (%llu before anything was there, %llu with a "
        "torn tail, %llu found completed), %llu writers ended before; %llu records told "
        "as durable, %llu recovered; 0 durable records lost, 0 unsound\n",
        (unsigned long long)t.kills, (unsigned long long)t.nothing, (unsigned long long)t.torn,
        (unsigned long long)t.sealed, (unsigned long long)t.ended, (unsigned long long)t.durable,
        (unsigned long long)t.recovered);
    assert_int_equal(t.kills, want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kills)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
