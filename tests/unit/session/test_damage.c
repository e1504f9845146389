/* Damage of every kind to sealed sessions and to unfinished ones: verify says no, at the place;
 * recover keeps what was before it and says what it dropped; no record is ever told that was not
 * written. Counts: MRD_SESSION_FAULTS=big for those of docs/session-faults.md. */
#include "move.h"

#include "session/format/bytes.h"

#include <stdio.h>
#include <string.h>

#define RECORDS 240

/* ---- Sealed sessions ---- */

typedef struct tally {
    uint64_t tried, exact, refused; /* refused: not opened at all, the file is named */
} tally;

/* Verify must say that [from, to) of the file is damaged: beginning there, or around it. */
static void expect_found(made *m, tally *t, const char *file, uint64_t from, uint64_t to,
                         const char *how)
{
    mrd__verify_result result;
    mrd_error error = {0};
    mrd_status status = mrd__session_verify("/s", &m->d.files, &result, &error);
    t->tried++;
    if (status != MRD_OK) {
        if (!mrd__text_ends(error.file, file))
            fail_msg("%s in %s at %llu: %s names %s", how, file, (unsigned long long)from,
                     error.message, error.file);
        t->refused++;
        return;
    }
    if (result.sound) fail_msg("%s in %s at %llu: undetected", how, file, (unsigned long long)from);
    bool right = strcmp(result.damage.file, file) == 0 && result.damage.from <= from &&
                 (to > from ? result.damage.to >= to : result.damage.to >= from);
    if (!right)
        fail_msg("%s in %s, %llu to %llu: found in %s, %llu to %llu: %s", how, file,
                 (unsigned long long)from, (unsigned long long)to, result.damage.file,
                 (unsigned long long)result.damage.from, (unsigned long long)result.damage.to,
                 result.damage.what);
    if (result.damage.from == from) t->exact++;
    if (result.completed && result.sealed && result.damage.what[0] == '\0')
        fail_msg("%s in %s: no reason", how, file);
    mrd_status read;
    (void)kit_read("/s", &m->d.files, &read); /* fails where a record is not the one written */
}

static void say(const char *what, const tally *t)
{
    print_message("session-faults: %s: %llu tried, %llu detected (%llu at their first byte, %llu "
                  "refused by name), 0 undetected\n",
                  what, (unsigned long long)t->tried, (unsigned long long)t->tried,
                  (unsigned long long)t->exact, (unsigned long long)t->refused);
}

static void flip_sealed(made_how how, const char *what, uint64_t count)
{
    made m;
    tally t = {0};
    mrd__rng rng = {11};
    made_begin(&m, how, RECORDS, 1);
    (void)kit_sound("/s", &m.d.files);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at;
        const made_file *file = made_place(&m, &rng, &at);
        char *byte = made_bytes(&m, file)->data + at;
        char bit = (char)(1 << mrd__rng_below(&rng, 8));
        size_t record = made_record_at(file, at);
        *byte ^= bit;
        if (record != SIZE_MAX)
            expect_found(&m, &t, file->name, file->edges.data[record], file->edges.data[record + 1],
                         "bit flip");
        else
            expect_found(&m, &t, file->name, at, at + 1, "bit flip");
        *byte ^= bit;
    }
    (void)kit_sound("/s", &m.d.files);
    say(what, &t);
    made_end(&m);
}

static void test_flips_sealed(void **state)
{
    (void)state;
    flip_sealed(MADE_FINISHED, "bit flips, sealed", kit_count_of(3000, 100000));
}

static void test_flips_scarred(void **state)
{
    (void)state;
    flip_sealed(MADE_SCARRED, "bit flips, sealed after failed syncs", kit_count_of(1000, 20000));
}

static void truncate_sealed(made *m, tally *t, const made_file *file, uint64_t size)
{
    mrd__buf *bytes = made_bytes(m, file);
    mrd__buf whole = *bytes;
    char saved = bytes->data[size];
    bytes->size = (size_t)size;
    bytes->data[size] = '\0';
    size_t record = made_record_at(file, size);
    uint64_t from = record == SIZE_MAX ? size : file->edges.data[record];
    if (file->edges.count > 0 && size < MRD__SEGMENT_HEAD) from = 0;
    expect_found(m, t, file->name, from, from, "truncation");
    *bytes = whole;
    bytes->data[size] = saved;
}

static void test_truncations_sealed(void **state)
{
    (void)state;
    made m;
    tally tail = {0};
    tally any = {0};
    mrd__rng rng = {12};
    made_begin(&m, MADE_FINISHED, 2 * RECORDS, 1);
    const made_file *last = &m.files.data[m.segments - 1];
    uint64_t size = made_bytes(&m, last)->size;
    assert_true(size > 4096);
    for (uint64_t at = size - 4096; at < size; at++)
        truncate_sealed(&m, &tail, last, at);
    for (uint64_t i = 0; i < kit_count_of(300, 1000); i++) {
        const made_file *file = made_place(&m, &rng, &size);
        truncate_sealed(&m, &any, file, size);
    }
    (void)kit_sound("/s", &m.d.files);
    say("truncation at every byte of the last 4 KiB, sealed", &tail);
    say("truncation at random places, sealed", &any);
    made_end(&m);
}

/* ---- Whole records ---- */

static const made_file *record_file(made *m, mrd__rng *rng)
{
    return &m->files.data[mrd__rng_below(rng, m->segments + 2)]; /* and domain, metrics */
}

static void test_records_sealed(void **state)
{
    (void)state;
    made m;
    made other;
    mrd__rng rng = {13};
    mrd__buf moved = {0};
    made_begin(&m, MADE_FINISHED, RECORDS, 1);
    made_begin(&other, MADE_FINISHED, RECORDS, 2);
    for (int how = 0; how < MOVES; how++) {
        tally t = {0};
        while (t.tried < kit_count_of(100, 1000)) {
            const made_file *file = record_file(&m, &rng);
            const made_file *source = &other.files.data[file - m.files.data];
            mrd__buf *bytes = made_bytes(&m, file);
            size_t first =
                move_record(&moved, how, bytes, file, made_bytes(&other, source), source, &rng);
            uint64_t at = file->edges.data[first];
            if (same_bytes(&moved, bytes)) continue;
            mrd__buf whole = *bytes;
            *bytes = moved;
            expect_found(&m, &t, file->name, at, at, move_names[how]);
            *bytes = whole;
        }
        char what[48];
        snprintf(what, sizeof what, "records %s, sealed", move_names[how]);
        say(what, &t);
    }
    (void)kit_sound("/s", &m.d.files);
    mrd__buf_reset(&moved);
    made_end(&m);
    made_end(&other);
}

/* A forger's work: a record of another session in its place and every CRC after it made to fit. The
 * frames are right then; hashes in the checkpoints, the next header and the manifest are not. */
static void test_forged(void **state)
{
    (void)state;
    made m;
    made other;
    tally t = {0};
    mrd__rng rng = {14};
    mrd__buf forged = {0};
    made_begin(&m, MADE_FINISHED, RECORDS, 1);
    made_begin(&other, MADE_FINISHED, RECORDS, 2);
    while (t.tried < kit_count_of(100, 1000)) {
        const made_file *file = record_file(&m, &rng);
        mrd__buf *bytes = made_bytes(&m, file);
        size_t a = (size_t)mrd__rng_below(&rng, file->edges.count - 1);
        size_t size = (size_t)(file->edges.data[a + 1] - file->edges.data[a]);
        mrd__buf_clear(&forged);
        mrd__buf_add(&forged, bytes->data, bytes->size);
        uint8_t *at = (uint8_t *)forged.data + file->edges.data[a];
        if (mrd__get32(at + 4) == 0) continue;
        at[MRD__RECORD_HEAD] ^= 0x55;
        uint32_t chain = mrd__get32(at + 24);
        for (size_t i = a; i + 1 < file->edges.count; i++, at += size) {
            size = (size_t)(file->edges.data[i + 1] - file->edges.data[i]);
            chain = mrd__record_seal(at, mrd__get16(at + 16), mrd__get16(at + 18),
                                     mrd__get64(at + 8), mrd__get32(at + 4), chain);
        }
        mrd__buf whole = *bytes;
        *bytes = forged;
        mrd__verify_result result;
        mrd_error error = {0};
        assert_int_equal(mrd__session_verify("/s", &m.d.files, &result, &error), MRD_OK);
        assert_false(result.sound);
        assert_string_equal(result.damage.file, file->name);
        t.tried++;
        *bytes = whole;
    }
    say("records forged with fitting CRCs, sealed", &t);
    mrd__buf_reset(&forged);
    made_end(&m);
    made_end(&other);
}

/* ---- Files ---- */

static void put_back(disk *d, const char *path, const mrd__buf *kept)
{
    disk_put(d, path, kept->data, kept->size);
}

static void keep(mrd__buf *kept, const mrd__buf *bytes)
{
    mrd__buf_clear(kept);
    if (bytes->size > 0) mrd__buf_add(kept, bytes->data, bytes->size);
}

static void test_files_sealed(void **state)
{
    (void)state;
    made m;
    made other;
    tally t = {0};
    mrd__buf kept = {0};
    made_begin(&m, MADE_FINISHED, RECORDS, 1);
    made_begin(&other, MADE_FINISHED, RECORDS, 2);
    for (size_t i = 0; i < m.files.count; i++) {
        const made_file *file = &m.files.data[i];
        keep(&kept, made_bytes(&m, file));
        disk_remove(&m.d, file->path);
        mrd__verify_result result;
        mrd_error error = {0};
        mrd_status status = mrd__session_verify("/s", &m.d.files, &result, &error);
        if (strcmp(file->name, "session.json") == 0) {
            assert_int_equal(status, MRD_ERR_NOT_FOUND);
        } else if (strcmp(file->name, "seal.json") == 0) {
            assert_int_equal(status, MRD_OK); /* without a seal it is not completed, always */
            assert_true(!result.sealed && !result.completed);
        } else {
            expect_found(&m, &t, file->name, 0, 0, "missing file");
        }
        disk_put(&m.d, file->path, "", 0);
        expect_found(&m, &t, file->name, 0, 0, "emptied file");
        mrd__buf *foreign = made_bytes(&other, &other.files.data[i]);
        if (!same_bytes(foreign, &kept)) {
            put_back(&m.d, file->path, foreign);
            expect_found(&m, &t, file->name, 0, 1, "foreign file");
        }
        put_back(&m.d, file->path, &kept);
        mrd__buf_text(made_bytes(&m, file), "x");
        expect_found(&m, &t, file->name, kept.size, kept.size + 1, "longer file");
        put_back(&m.d, file->path, &kept);
    }
    (void)kit_sound("/s", &m.d.files);
    say("files missing, emptied, foreign, longer", &t);
    mrd__buf_reset(&kept);
    made_end(&m);
    made_end(&other);
}

static void test_segments_sealed(void **state)
{
    (void)state;
    made m;
    tally t = {0};
    mrd__buf kept = {0};
    made_begin(&m, MADE_FINISHED, RECORDS, 1);
    for (size_t i = 0; i < m.segments; i++) {
        for (size_t k = i + 1; k < m.segments; k++) {
            mrd__buf *a = made_bytes(&m, &m.files.data[i]);
            mrd__buf *b = made_bytes(&m, &m.files.data[k]);
            mrd__buf c = *a;
            *a = *b;
            *b = c;
            expect_found(&m, &t, m.files.data[i].name, 0, 1, "swapped segments");
            c = *a;
            *a = *b;
            *b = c;
        }
    }
    char more[48];
    char name[32];
    snprintf(name, sizeof name, "raw/%06zu.mrl", m.segments + 1);
    snprintf(more, sizeof more, "/s/%s", name);
    put_back(&m.d, more, made_bytes(&m, &m.files.data[m.segments - 1]));
    expect_found(&m, &t, name, 0, 1, "one segment more");
    disk_remove(&m.d, more);
    disk_put(&m.d, "/s/raw/notes.txt", "hello", 5);
    expect_found(&m, &t, "raw/notes.txt", 0, 1, "a stranger among the segments");
    disk_remove(&m.d, "/s/raw/notes.txt");
    (void)kit_sound("/s", &m.d.files);
    say("segments swapped, added", &t);
    mrd__buf_reset(&kept);
    made_end(&m);
}

/* A page or sector that reads as zeros, as rubbish, or as another place of the file. */
static void test_sectors_sealed(void **state)
{
    (void)state;
    made m;
    tally t = {0};
    mrd__rng rng = {15};
    mrd__buf kept = {0};
    made_begin(&m, MADE_FINISHED, RECORDS, 1);
    while (t.tried < kit_count_of(500, 50000)) {
        uint64_t at;
        const made_file *file = made_place(&m, &rng, &at);
        mrd__buf *bytes = made_bytes(&m, file);
        size_t sector = mrd__rng_below(&rng, 2) == 0 ? 512 : 4096;
        keep(&kept, bytes);
        at -= at % sector;
        size_t size = bytes->size - at < sector ? bytes->size - (size_t)at : sector;
        size_t from = (size_t)mrd__rng_below(&rng, bytes->size - size + 1);
        uint64_t how = mrd__rng_below(&rng, 3);
        if (how == 2) memcpy(bytes->data + at, kept.data + from, size);
        for (size_t i = 0; how < 2 && i < size; i++)
            bytes->data[at + i] = how == 0 ? '\0' : (char)mrd__rng_next(&rng);
        if (same_bytes(bytes, &kept)) continue;
        size_t first = (size_t)at;
        while (bytes->data[first] == kept.data[first])
            first++;
        size_t record = made_record_at(file, first);
        uint64_t place = record == SIZE_MAX ? first : file->edges.data[record];
        expect_found(&m, &t, file->name, place, place, "bad sector");
        put_back(&m.d, file->path, &kept);
    }
    (void)kit_sound("/s", &m.d.files);
    say("sectors of zeros, rubbish or another place, sealed", &t);
    mrd__buf_reset(&kept);
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flips_sealed),
        cmocka_unit_test(test_flips_scarred),
        cmocka_unit_test(test_truncations_sealed),
        cmocka_unit_test(test_records_sealed),
        cmocka_unit_test(test_forged),
        cmocka_unit_test(test_files_sealed),
        cmocka_unit_test(test_segments_sealed),
        cmocka_unit_test(test_sectors_sealed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
