/* Power cuts: at random moments of recording, finishing and recovering, the disk keeps what was
 * synced and any part of the rest. Nothing that was reported as durable may be missing, recovering
 * succeeds, and what it seals is sound. */
#include "disk.h"
#include "kit.h"

#include <stdio.h>
#include <string.h>

typedef struct scene {
    disk d;
    mrd__rng rng;
    uint64_t seed;
    uint64_t durable;  /* newest sequence reported so */
    uint64_t reserved; /* all records of the whole scene */
    bool finished;     /* finish has returned MRD_OK */
    bool failing;      /* syncs fail now and then */
    uint64_t every;    /* a cut at one of so many calls */
    uint64_t *cuts, *recovered, *torn, *sealed, *nested;
} scene;

static void must(const scene *s, mrd_status status, const mrd_error *error)
{
    if (status != MRD_OK)
        fail_msg("seed %llu: %s: %s: %s", (unsigned long long)s->seed, error->file, error->code,
                 error->message);
}

/* The session on a disk that lost its power. */
static void check_image(const scene *s, disk *image)
{
    mrd__recover_result result;
    mrd__damage damage = {0};
    mrd_error error = {0};
    mrd_status status =
        mrd__session_recover("/s", &image->files, NULL, NULL, &result, &damage, &error);
    if (status == MRD_ERR_NOT_FOUND && s->durable == 0) return;
    if (status != MRD_OK)
        fail_msg("seed %llu, %llu durable: %s %s: %s (%s %llu-%llu)", (unsigned long long)s->seed,
                 (unsigned long long)s->durable, error.file, error.code, error.message, damage.file,
                 (unsigned long long)damage.from, (unsigned long long)damage.to);
    if (result.sequences < s->durable)
        fail_msg("seed %llu: %llu durable, %llu recovered", (unsigned long long)s->seed,
                 (unsigned long long)s->durable, (unsigned long long)result.sequences);
    assert_int_equal(kit_read("/s", &image->files, NULL), result.sequences);
    mrd__verify_result sound = kit_sound("/s", &image->files);
    assert_true(sound.sealed);
    if (s->finished) assert_true(sound.completed);
    if (sound.completed) assert_int_equal(result.sequences, s->reserved);
    ++*s->recovered;
    if (result.was_sealed) ++*s->sealed;
    if (result.cut_bytes > 0) ++*s->torn;
}

/* A second cut while the first one is being recovered from. */
static void cut_again(void *ctx, disk *d)
{
    scene *s = ctx;
    if (mrd__rng_below(&s->rng, 20) != 0) return;
    disk image;
    disk_cut(&image, d, &s->rng);
    check_image(s, &image);
    disk_end(&image);
    ++*s->nested;
}

static void cut(void *ctx, disk *d)
{
    scene *s = ctx;
    if (mrd__rng_below(&s->rng, s->every) != 0) return;
    disk image;
    disk_cut(&image, d, &s->rng);
    disk same;
    disk_copy(&same, &image);
    image.before = cut_again;
    image.before_ctx = s;
    check_image(s, &image);
    check_image(s, &same);
    assert_true(disk_same(&image, &same)); /* recovered twice: the same bytes */
    disk_end(&image);
    disk_end(&same);
    ++*s->cuts;
}

static void note_durable(void *ctx, uint64_t sequence)
{
    scene *s = ctx;
    assert_true(sequence > s->durable);
    s->durable = sequence;
}

static void work(scene *s, mrd__recording *recording)
{
    mrd_error error = {0};
    mrd__derived *domain;
    static const char *const names[] = {"event"};
    must(s, mrd__recording_derive(recording, MRD__FILE_DOMAIN, names, 1, &domain, &error), &error);
    while (s->reserved < 120) {
        s->d.fail_sync = s->failing && mrd__rng_below(&s->rng, 10) == 0;
        s->d.fail_truncate = s->failing && mrd__rng_below(&s->rng, 2) == 0;
        uint64_t count = 1 + mrd__rng_below(&s->rng, 6);
        for (uint64_t i = 0; i < count; i++) {
            must(s, kit_append(recording, &error), &error);
            mrd__str part = MRD__STR("an event");
            must(s,
                 mrd__derived_append(domain, MRD__RECORD_DERIVED, ++s->reserved, &part, 1, &error),
                 &error);
        }
        s->d.clock_ns += mrd__rng_below(&s->rng, 200000000);
        mrd_status status = mrd__rng_below(&s->rng, 3) == 0
                                ? mrd__recording_drain(recording, &error)
                                : mrd__recording_pump(recording, &error);
        must(s, status, &error);
    }
    s->d.fail_sync = false;
    must(s, mrd__recording_file(recording, "report.json", MRD__STR("{}"), &error), &error);
}

static void play(scene *s)
{
    disk_begin(&s->d);
    s->d.before = cut;
    s->d.before_ctx = s;
    s->failing = mrd__rng_below(&s->rng, 2) == 0;
    mrd__recording_options options = {.dir = "/s",
                                      .uuid = (const uint8_t *)"0123456789abcdef",
                                      .files = &s->d.files,
                                      .no_thread = true,
                                      .durable = note_durable,
                                      .durable_ctx = s,
                                      .ingress_bytes = 65536,
                                      .segment_bytes = 2000 + mrd__rng_below(&s->rng, 20000),
                                      .sync_records = 1 + (uint32_t)mrd__rng_below(&s->rng, 20),
                                      .sync_bytes = 200 + mrd__rng_below(&s->rng, 2000),
                                      .checkpoint_records = 17};
    mrd__recording *recording;
    mrd_error error = {0};
    must(s, mrd__recording_create(&options, &recording, &error), &error);
    work(s, recording);
    if (mrd__rng_below(&s->rng, 4) != 0) {
        mrd__finish end = {.end_event = MRD__STR("end")};
        must(s, mrd__recording_finish(recording, &end, &error), &error);
        s->finished = true;
        for (int i = 0; i < 3; i++) {
            s->every = 1;
            cut(s, &s->d);
        }
    }
    mrd__recording_destroy(&recording);
    disk_end(&s->d);
}

static void test_power(void **state)
{
    (void)state;
    uint64_t cuts = 0;
    uint64_t recovered = 0;
    uint64_t torn = 0;
    uint64_t sealed = 0;
    uint64_t nested = 0;
    uint64_t scenes = kit_count_of(40, 1200);
    for (uint64_t seed = 1; seed <= scenes; seed++) {
        scene s = {.seed = seed,
                   .rng = {seed},
                   .every = 12,
                   .cuts = &cuts,
                   .recovered = &recovered,
                   .torn = &torn,
                   .sealed = &sealed,
                   .nested = &nested};
        play(&s);
    }
    print_message("session-faults: power cuts: %llu of %llu recordings, %llu while recovering; "
                  "%llu recovered (%llu with a torn tail, %llu found sealed), the others before "
                  "anything was durable; 0 durable records lost, 0 unsound\n",
                  (unsigned long long)cuts, (unsigned long long)scenes, (unsigned long long)nested,
                  (unsigned long long)recovered, (unsigned long long)torn,
                  (unsigned long long)sealed);
    assert_true(torn > 0 && sealed > 0 && nested > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_power)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
