/* Damage to sessions that were never finished: recover takes what is whole before it and says what
 * it dropped, or names it as corruption and changes nothing; the records before it are all there,
 * either way. Counts: MRD_SESSION_FAULTS=big for those of docs/session-faults.md. */
#include "move.h"

#include <stdio.h>
#include <string.h>

#define RECORDS 240

typedef struct tally {
    uint64_t tried, cut, corrupt, whole; /* whole: nothing was missed */
} tally;

static void say(const char *what, const tally *t)
{
    print_message("session-faults: %s: %llu tried, %llu cut and told, %llu refused as corruption, "
                  "%llu ended at a record, 0 undetected, 0 records before the damage lost\n",
                  what, (unsigned long long)t->tried, (unsigned long long)t->cut,
                  (unsigned long long)t->corrupt, (unsigned long long)t->whole);
}

/* What is expected of one damaged session: where, and how much is kept. */
typedef struct expected {
    const char *how;
    const char *file;  /* damaged */
    uint64_t from;     /* its first byte, or the record's */
    uint64_t kept;     /* newest sequence before it */
    bool may_cut;      /* a torn tail is a right answer */
    bool must_cut;     /* the only one */
    bool may_be_whole; /* nothing is left that could tell */
} expected;

static void explain(const expected *e, const char *what, const mrd_error *error,
                    const mrd__damage *damage)
{
    fail_msg("%s in %s at %llu, %llu kept: %s (%s; %s %llu-%llu %s)", e->how, e->file,
             (unsigned long long)e->from, (unsigned long long)e->kept, what, error->message,
             damage->file, (unsigned long long)damage->from, (unsigned long long)damage->to,
             damage->what);
}

/* Recovered: sealed, sound, exactly the prefix, and the report says what was cut. */
static void check_cut(disk *d, const expected *e, const mrd__recover_result *result, tally *t)
{
    mrd_error error = {0};
    if (result->sequences != e->kept) explain(e, "another prefix", &error, &result->cut);
    mrd__verify_result sealed = kit_sound("/s", &d->files);
    assert_true(sealed.sealed && !sealed.completed);
    assert_string_equal(sealed.reasons, "crash");
    assert_int_equal(kit_read("/s", &d->files, NULL), e->kept);
    const mrd__buf *report = disk_file(d, "/s/recovery.json");
    assert_non_null(report);
    bool told = strstr(report->data, "\"cut\":null") == NULL;
    if (!told && result->cut_bytes > 0) explain(e, "told and cut differ", &error, &result->cut);
    if (!told && !e->may_be_whole) explain(e, "undetected", &error, &result->cut);
    if (told && (strcmp(result->cut.file, e->file) != 0 || result->cut.from != e->from))
        explain(e, "another place", &error, &result->cut);
    *(told ? &t->cut : &t->whole) += 1;
    mrd__recover_result again;
    disk before;
    disk_copy(&before, d);
    assert_int_equal(mrd__session_recover("/s", &d->files, NULL, NULL, &again, NULL, &error), 0);
    assert_true(again.was_sealed);
    assert_true(disk_same(&before, d));
    disk_end(&before);
}

static void expect_recovery(made *m, const expected *e, tally *t)
{
    disk d;
    mrd__recover_result result;
    mrd__damage damage = {0};
    mrd_error error = {0};
    disk_copy(&d, &m->d);
    mrd_status status =
        mrd__session_recover("/s.open", &d.files, NULL, NULL, &result, &damage, &error);
    t->tried++;
    if (status == MRD_OK) {
        if (!e->may_cut) explain(e, "taken for a torn tail", &error, &result.cut);
        check_cut(&d, e, &result, t);
    } else {
        if (status != MRD_ERR_FORMAT || e->must_cut) explain(e, "failed", &error, &damage);
        if (strcmp(damage.file, e->file) != 0 || damage.from != e->from)
            explain(e, "another place", &error, &damage);
        assert_true(disk_same(&d, &m->d));
        mrd_status read;
        uint64_t last = kit_read("/s", &d.files, &read);
        if (read != MRD_ERR_FORMAT || last < e->kept) explain(e, "read", &error, &damage);
        t->corrupt++;
    }
    disk_end(&d);
}

/* The expectation of damage to record number `record` of a segment. */
static expected of_record(made *m, const made_file *file, size_t record, const char *how)
{
    bool last = file == &m->files.data[m->segments - 1];
    return (expected){.how = how,
                      .file = file->name,
                      .from = file->edges.data[record],
                      .kept = file->newest.data[record],
                      .may_cut = last};
}

static const made_file *segment_of(made *m, mrd__rng *rng)
{
    return &m->files.data[mrd__rng_below(rng, m->segments)];
}

static void test_flips(void **state)
{
    (void)state;
    made m;
    tally t = {0};
    mrd__rng rng = {21};
    made_begin(&m, MADE_OPEN, RECORDS, 1);
    while (t.tried < kit_count_of(2000, 30000)) {
        const made_file *file = segment_of(&m, &rng);
        mrd__buf *bytes = made_bytes(&m, file);
        uint64_t at = mrd__rng_below(&rng, bytes->size);
        size_t record = made_record_at(file, at);
        expected e = of_record(&m, file, record == SIZE_MAX ? 0 : record, "bit flip");
        if (record == SIZE_MAX) e.from = 0;
        if (record == SIZE_MAX) e.kept = file->newest.data[0];
        /* Behind the last record that vouches for those before it, all may be torn. */
        if (e.may_cut && e.from >= file->synced) e.must_cut = true;
        if (e.from < file->synced) e.may_cut = false;
        char bit = (char)(1 << mrd__rng_below(&rng, 8));
        bytes->data[at] ^= bit;
        expect_recovery(&m, &e, &t);
        bytes->data[at] ^= bit;
    }
    say("bit flips in segments, unfinished", &t);
    made_end(&m);
}

/* The identity of an unfinished session is held to its records. */
static void test_flips_identity(void **state)
{
    (void)state;
    made m;
    uint64_t tried = 0;
    made_begin(&m, MADE_OPEN, RECORDS, 1);
    mrd__buf *bytes = disk_file(&m.d, "/s.open/session.json");
    for (size_t at = 0; at < bytes->size; at++) {
        for (int bit = 0; bit < 8; bit++, tried++) {
            bytes->data[at] ^= (char)(1 << bit);
            disk d;
            mrd__recover_result result;
            mrd_error error = {0};
            disk_copy(&d, &m.d);
            mrd_status status =
                mrd__session_recover("/s.open", &d.files, NULL, NULL, &result, NULL, &error);
            if (status != MRD_ERR_FORMAT && status != MRD_ERR_UNSUPPORTED)
                fail_msg("byte %zu bit %d: status %d %s", at, bit, status, error.message);
            if (strstr(error.file, "session.json") == NULL)
                fail_msg("byte %zu bit %d: names %s: %s", at, bit, error.file, error.message);
            assert_true(disk_same(&d, &m.d));
            disk_end(&d);
            bytes->data[at] ^= (char)(1 << bit);
        }
    }
    print_message("session-faults: bit flips in session.json, unfinished: %llu tried, all "
                  "detected, nothing changed\n",
                  (unsigned long long)tried);
    made_end(&m);
}

static void truncate_open(made *m, tally *t, const made_file *file, uint64_t size)
{
    mrd__buf *bytes = made_bytes(m, file);
    mrd__buf whole = *bytes;
    char saved = bytes->data[size];
    size_t record = made_record_at(file, size);
    expected e = of_record(m, file, record == SIZE_MAX ? 0 : record, "truncation");
    if (record == SIZE_MAX) e.from = 0;
    e.must_cut = e.may_cut;
    e.may_be_whole = e.from == size || size == 0;
    bytes->size = (size_t)size;
    bytes->data[size] = '\0';
    expect_recovery(m, &e, t);
    *bytes = whole;
    bytes->data[size] = saved;
}

static void test_truncations(void **state)
{
    (void)state;
    made m;
    tally tail = {0};
    tally any = {0};
    mrd__rng rng = {22};
    made_begin(&m, MADE_OPEN, 2 * RECORDS, 1);
    const made_file *last = &m.files.data[m.segments - 1];
    uint64_t size = made_bytes(&m, last)->size;
    assert_true(size > 4096);
    for (uint64_t at = size - 4096; at < size; at++)
        truncate_open(&m, &tail, last, at);
    for (uint64_t i = 0; i < kit_count_of(300, 1000); i++) {
        const made_file *file = segment_of(&m, &rng);
        truncate_open(&m, &any, file, mrd__rng_below(&rng, made_bytes(&m, file)->size));
    }
    say("truncation at every byte of the last 4 KiB, unfinished", &tail);
    say("truncation at random places, unfinished", &any);
    made_end(&m);
}

static void test_records(void **state)
{
    (void)state;
    made m;
    made other;
    mrd__rng rng = {23};
    mrd__buf moved = {0};
    made_begin(&m, MADE_OPEN, RECORDS, 1);
    made_begin(&other, MADE_OPEN, RECORDS, 2);
    for (int how = 0; how < MOVES; how++) {
        tally t = {0};
        while (t.tried < kit_count_of(100, 1000)) {
            const made_file *file = segment_of(&m, &rng);
            const made_file *source = &other.files.data[file - m.files.data];
            mrd__buf *bytes = made_bytes(&m, file);
            size_t at =
                move_record(&moved, how, bytes, file, made_bytes(&other, source), source, &rng);
            if (same_bytes(&moved, bytes)) continue;
            expected e = of_record(&m, file, at, move_names[how]);
            /* The last record dropped leaves a session that is whole as far as it goes. */
            e.may_be_whole = e.may_cut && moved.size == file->edges.data[at];
            mrd__buf whole = *bytes;
            *bytes = moved;
            expect_recovery(&m, &e, &t);
            *bytes = whole;
        }
        char what[48];
        snprintf(what, sizeof what, "records %s, unfinished", move_names[how]);
        say(what, &t);
    }
    mrd__buf_reset(&moved);
    made_end(&m);
    made_end(&other);
}

static void test_segments(void **state)
{
    (void)state;
    made m;
    made other;
    tally t = {0};
    mrd__buf kept = {0};
    made_begin(&m, MADE_OPEN, RECORDS, 1);
    made_begin(&other, MADE_OPEN, RECORDS, 2);
    for (size_t i = 0; i < m.segments; i++) {
        const made_file *file = &m.files.data[i];
        expected e = of_record(&m, file, 0, "missing segment");
        const mrd__buf *bytes = made_bytes(&m, file);
        e.from = 0;
        e.may_be_whole = e.may_cut;
        mrd__buf_clear(&kept);
        mrd__buf_add(&kept, bytes->data, bytes->size);
        disk_remove(&m.d, file->path);
        if (i + 1 < m.segments) expect_recovery(&m, &e, &t); /* the last one: nobody can know */
        e.how = "foreign segment";
        e.may_be_whole = false;
        const mrd__buf *foreign = made_bytes(&other, &other.files.data[i]);
        disk_put(&m.d, file->path, foreign->data, foreign->size);
        expect_recovery(&m, &e, &t);
        disk_put(&m.d, file->path, kept.data, kept.size);
    }
    disk_put(&m.d, "/s.open/raw/core", "x", 1);
    mrd_error error = {0};
    mrd__recover_result result;
    mrd__damage damage;
    assert_int_equal(mrd__session_recover("/s", &m.d.files, NULL, NULL, &result, &damage, &error),
                     MRD_ERR_FORMAT);
    assert_string_equal(damage.file, "raw/core");
    say("segments missing, foreign, unfinished", &t);
    mrd__buf_reset(&kept);
    made_end(&m);
    made_end(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flips),       cmocka_unit_test(test_flips_identity),
        cmocka_unit_test(test_truncations), cmocka_unit_test(test_records),
        cmocka_unit_test(test_segments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
