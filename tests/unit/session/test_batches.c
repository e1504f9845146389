/* Many records at once, and derived files that are written by a thread of their own. */
#include "kit.h"

#include "base/alloc.h"
#include "base/error.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    ROUNDS = 400,
    MANY = 23, /* records of one call */
};

typedef struct reader {
    mrd__recording *recording;
    unsigned number;
    pthread_t thread;
} reader;

/* Payload: the reader's number and a count of its own, in 8 to 30 bytes. */
static void *read_source(void *arg)
{
    reader *r = arg;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        mrd__pending pending[MANY];
        mrd__buf payloads = {0};
        mrd_error error = {0};
        for (uint32_t i = 0; i < MANY; i++) {
            uint32_t head[2] = {r->number, round * MANY + i};
            size_t from = payloads.size;
            mrd__buf_add(&payloads, head, sizeof head);
            mrd__buf_add(&payloads, "0123456789012345678901", i);
            pending[i] =
                (mrd__pending){.type = MRD__RECORD_RAW, .size = (uint32_t)(payloads.size - from)};
        }
        kit_must(mrd__recording_append_many(r->recording, pending, MANY, payloads.data,
                                            UINT64_C(10000000000), &error),
                 &error);
        for (uint32_t i = 1; i < MANY; i++) /* one run of numbers */
            assert_true(pending[i].sequence == pending[i - 1].sequence + 1);
        mrd__buf_reset(&payloads);
    }
    return NULL;
}

typedef struct found {
    uint64_t records;
    uint32_t next[4]; /* of each reader */
} found;

static mrd_status check_own(void *ctx, const mrd__record *record, mrd_error *error)
{
    found *f = ctx;
    uint32_t head[2];
    (void)error;
    if (record->type != MRD__RECORD_RAW) return MRD_OK;
    memcpy(head, record->payload, sizeof head);
    assert_true(head[0] < 4);
    assert_int_equal(head[1], f->next[head[0]]++);
    assert_int_equal(record->size, 8 + head[1] % MANY);
    f->records++;
    return MRD_OK;
}

static void read_four(mrd__recording *recording)
{
    reader readers[4];
    for (unsigned i = 0; i < 4; i++) {
        readers[i] = (reader){.recording = recording, .number = i};
        pthread_create(&readers[i].thread, NULL, read_source, &readers[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(readers[i].thread, NULL);
}

/* Four readers, an ingress that is mostly full: each finds its own records in its own order. */
static void test_threads(void **state)
{
    (void)state;
    kit k;
    kit_begin(&k);
    mrd__recording *recording = kit_create(
        &k, (mrd__recording_options){.ingress_bytes = 16384, .segment_bytes = (uint64_t)1 << 20});
    read_four(recording);
    kit_finish(recording, "{}");
    mrd__recording_destroy(&recording);
    assert_true(kit_sound(k.dir, NULL).completed);
    mrd__stored *stored;
    mrd_error error = {0};
    found f = {0};
    kit_must(mrd__stored_open(k.dir, NULL, &stored, &error), &error);
    kit_must(mrd__stored_read(stored, check_own, &f, NULL, &error), &error);
    mrd__stored_close(&stored);
    assert_int_equal(f.records, 4 * ROUNDS * MANY);
    kit_end(&k);
}

/* All or none: what finds no room is counted as so many refusals, and nothing is renumbered. */
static void test_refused(void **state)
{
    (void)state;
    kit k;
    kit_begin(&k);
    mrd__recording *recording =
        kit_create(&k, (mrd__recording_options){.no_thread = true, .ingress_bytes = 4096});
    mrd__pending pending[MANY];
    char bytes[MANY] = {0};
    mrd_error error = {0};
    uint64_t taken = 0, refused = 0;
    for (size_t i = 0; i < MANY; i++)
        pending[i] = (mrd__pending){.type = MRD__RECORD_RAW, .size = 1};
    for (int i = 0; i < 10; i++) {
        mrd_status status = mrd__recording_append_many(recording, pending, MANY, bytes, 0, &error);
        assert_true(status == MRD_OK || status == MRD_ERR_LIMIT);
        *(status == MRD_OK ? &taken : &refused) += MANY;
    }
    mrd__recording_state now;
    mrd__recording_state_get(recording, &now);
    assert_int_equal(taken, 4 * MANY); /* 40 bytes each */
    assert_int_equal(now.refused, refused);
    assert_int_equal(now.reserved, taken);
    pending[0].size = MRD__RECORD_PAYLOAD_MAX + 1;
    assert_int_equal(mrd__recording_append_many(recording, pending, 1, bytes, 0, &error),
                     MRD_ERR_LIMIT);
    assert_string_equal(error.code, "record_size");
    mrd__recording_close_admission(recording);
    pending[0].size = 1;
    assert_int_equal(mrd__recording_append_many(recording, pending, 1, bytes, 0, &error),
                     MRD_ERR_STATE);
    kit_finish(recording, "{}");
    mrd__recording_destroy(&recording);
    assert_true(kit_sound(k.dir, NULL).completed);
    kit_end(&k);
}

static const char *const sample_names[] = {"sample"};

/* Several buffers go through the file's own thread. */
static void test_derived(void **state)
{
    (void)state;
    kit k;
    kit_begin(&k);
    mrd__recording *recording = kit_create(&k, (mrd__recording_options){0});
    mrd__derived *metrics;
    mrd_error error = {0};
    char bytes[1000];
    kit_must(kit_append(recording, &error), &error);
    kit_must(mrd__recording_derive(recording, MRD__FILE_METRICS, sample_names, 1, &metrics, &error),
             &error);
    memset(bytes, 'x', sizeof bytes);
    for (int i = 0; i < 3000; i++) {
        mrd__str part = {bytes, (size_t)i % sizeof bytes};
        kit_must(mrd__derived_append(metrics, 16, 1, &part, 1, &error), &error);
    }
    kit_finish(recording, "{}");
    mrd__recording_destroy(&recording);
    assert_true(kit_sound(k.dir, NULL).completed); /* hash, size and counts are those of the file */
    kit_end(&k);
}

/* Its disk fails in the thread: a later append says so, and there is no seal. */
static mrd_status appended(mrd__derived *metrics, mrd_error *error)
{
    char bytes[1000] = {0};
    mrd__str part = {bytes, sizeof bytes};
    for (int i = 0; i < 3000; i++)
        MRD__TRY(mrd__derived_append(metrics, 16, 1, &part, 1, error));
    return MRD_OK;
}

static void test_derived_fails(void **state)
{
    (void)state;
    kit k;
    kit_faults faults;
    kit_begin(&k);
    kit_faults_init(&faults, mrd__files_system());
    faults.number = ENOSPC;
    mrd__recording *recording = kit_create(&k, (mrd__recording_options){.files = &faults.files});
    mrd__derived *metrics;
    mrd_error error = {0};
    kit_must(mrd__recording_derive(recording, MRD__FILE_METRICS, sample_names, 1, &metrics, &error),
             &error);
    faults.always = true;
    faults.fail_at = faults.calls + 1;
    assert_int_equal(appended(metrics, &error), MRD_ERR_IO);
    assert_non_null(strstr(error.file, "metrics.mrl"));
    mrd__finish end = {.facts = "{}"};
    assert_int_not_equal(mrd__recording_finish(recording, &end, &error), MRD_OK);
    mrd__recording_destroy(&recording);
    kit_end(&k);
}

/* ---- Syncs beside the writer ---- */

typedef struct flaky {
    mrd__files files;
    atomic_ulong syncs;   /* fdatasync was called so often */
    atomic_ulong beside;  /* of those by another thread than the one that writes */
    _Atomic uintptr_t by; /* whoever wrote last */
    atomic_ulong fail_every;
} flaky;

static ssize_t flaky_write(void *ctx, int fd, const void *data, size_t size)
{
    flaky *f = ctx;
    f->by = (uintptr_t)pthread_self();
    return write(fd, data, size);
}

static int flaky_fdatasync(void *ctx, int fd)
{
    flaky *f = ctx;
    if (f->by != (uintptr_t)pthread_self()) f->beside++;
    if (++f->syncs % f->fail_every != 0) return fdatasync(fd);
    errno = EIO;
    return -1;
}

/* Backlogs, and a sync in so many that fails: everything is there, in order, sealed. */
static void test_syncs_beside(void **state)
{
    (void)state;
    kit k;
    kit_begin(&k);
    flaky f = {.files = *mrd__files_system(), .fail_every = 5};
    f.files.ctx = &f;
    f.files.write = flaky_write;
    f.files.fdatasync = flaky_fdatasync;
    mrd__recording *recording =
        kit_create(&k, (mrd__recording_options){.files = &f.files,
                                                .ingress_bytes = 65536,
                                                .sync_bytes = 8192,
                                                .segment_bytes = (uint64_t)1 << 20,
                                                .checkpoint_records = 100});
    read_four(recording);
    mrd__recording_state now;
    mrd_error error = {0};
    kit_must(mrd__recording_drain(recording, &error), &error);
    mrd__recording_state_get(recording, &now);
    f.fail_every = ULONG_MAX;
    kit_finish(recording, "{}");
    mrd__recording_destroy(&recording);
    assert_true(kit_sound(k.dir, NULL).completed);
    mrd__stored *stored;
    found all = {0};
    kit_must(mrd__stored_open(k.dir, NULL, &stored, &error), &error);
    kit_must(mrd__stored_read(stored, check_own, &all, NULL, &error), &error);
    mrd__stored_close(&stored);
    assert_int_equal(all.records, 4 * ROUNDS * MANY);
    assert_true(f.beside > 5);
    assert_true(now.sync_failures > 0);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),      cmocka_unit_test(test_refused),
        cmocka_unit_test(test_derived),      cmocka_unit_test(test_derived_fails),
        cmocka_unit_test(test_syncs_beside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
