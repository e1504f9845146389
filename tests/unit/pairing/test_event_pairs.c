/* The pairing goldens without a window, and random lists against the straight state machine. */
#include "event_kit/machine.h"
#include "pairing/event_pairs.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define GOLDEN MRD_SOURCE_DIR "/tests/golden/pairing/"

static void check_interval(const mrd__events *events, const mrd__event_key *key, uint64_t at,
                           const tree *want)
{
    assert_string_equal(events->components[key->component].data,
                        tree_get(want, "component")->text.data);
    assert_string_equal(events->category_names[key->category],
                        tree_get(want, "category")->text.data);
    assert_true(events->intervals.start[at] == tree_number(tree_get(want, "start_ns")));
    assert_true(events->intervals.end[at] == tree_number(tree_get(want, "end_ns")));
    bool last = at + 1 == events->intervals.first[key->row + 1];
    assert_int_equal(last && events->interval_unclosed[key->row],
                     tree_get(want, "unclosed")->type == MRD__JSON_TRUE);
}

static void check_golden(const tree *document)
{
    kit_rows rows = kit_rows_of(document);
    mrd__events *events = kit_events(&rows);
    mrd__events_pair(events, 2);
    const tree *expect = tree_get(document, "expect");
    const tree *want = tree_get(expect, "intervals")->child;
    const tree *bad = tree_get(expect, "anomalies")->child;
    for (size_t k = 0; k < events->key_count; k++) {
        const mrd__event_key *key = &events->keys[k];
        if (key->form != MRD__FORM_INTERVAL) continue;
        for (uint64_t i = events->intervals.first[key->row];
             i < events->intervals.first[key->row + 1]; i++, want = want->next) {
            assert_non_null(want);
            check_interval(events, key, i, want);
        }
        if (!key->anomaly_count) continue;
        assert_non_null(bad);
        assert_string_equal(events->components[key->component].data,
                            tree_get(bad, "component")->text.data);
        assert_true(key->anomaly_count == (uint64_t)tree_number(tree_get(bad, "count")));
        assert_true(key->anomaly_first_ns == tree_number(tree_get(bad, "first_ns")));
        bad = bad->next;
    }
    assert_null(want);
    assert_null(bad);
    mrd__events_destroy(&events);
    mrd__free(rows.data);
}

static void goldens(void **state)
{
    (void)state;
    DIR *folder = opendir(GOLDEN);
    assert_non_null(folder);
    size_t checked = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (!strstr(entry->d_name, ".json")) continue;
        char path[1024];
        snprintf(path, sizeof path, "%s%s", GOLDEN, entry->d_name);
        mrd__arena arena = {0};
        tree *document = tree_file(&arena, path);
        if (!document) fail_msg("%s is not JSON", path);
        if (!tree_get(document, "window")) {
            print_message("%s\n", tree_get(document, "name")->text.data);
            check_golden(document);
            checked++;
        }
        mrd__arena_reset(&arena);
    }
    closedir(folder);
    assert_true(checked >= 19);
}

/* Few times, so that ties, doubled openers and zero lengths are common. */
static kit_rows random_rows(mrd__rng *rng, size_t count)
{
    kit_rows rows = {.data = mrd__new_array(kit_row, count + 1), .count = count};
    uint64_t span = 1 + mrd__rng_below(rng, count * 2 + 1);
    for (size_t i = 0; i < count; i++) {
        kit_row *row = &rows.data[i];
        row->category = (int)mrd__rng_below(rng, MRD__CAT_COUNT);
        row->time = (double)mrd__rng_below(rng, span) / 4 - 3;
        row->value = (double)mrd__rng_below(rng, 9);
        snprintf(row->component, sizeof row->component, "c_%u", (unsigned)mrd__rng_below(rng, 4));
    }
    rows.has_sim_end = mrd__rng_next(rng) & 1;
    rows.sim_end = (double)mrd__rng_below(rng, span) / 3;
    kit_sort(&rows);
    return rows;
}

static void check_blocks(const mrd__events *events, size_t k, const kit_rows *rows, kit_key key)
{
    machine m = {.intervals = mrd__new_array(machine_interval, rows->count + 1)};
    const mrd__event_block *blocks = events->blocks + events->block_index[k];
    double covered = 0, last = 0;
    uint32_t gaps = 0, closers = 0;
    uint64_t i = 0;
    for (size_t r = 0; r < rows->count; r++) {
        const kit_row *row = &rows->data[r];
        if (!machine_takes(row, key)) continue;
        if (i && m.open) covered += row->time - last;
        if (i && !m.open) gaps += row->time > last;
        const mrd__event_block *block = &blocks[i / MRD__EVENT_BLOCK];
        unsigned bit = i % MRD__EVENT_BLOCK;
        if (bit == 0) { /* times are quarters: sums are exact */
            assert_true(block->cover_hi + block->cover_lo == covered);
            assert_int_equal(block->gaps, gaps);
            assert_int_equal(block->closers_before, closers);
            assert_true(events->block_time[events->block_index[k] + i / MRD__EVENT_BLOCK] ==
                        row->time);
        }
        machine_step(&m, row);
        closers += kit_closes(row->category);
        assert_int_equal(block->open >> bit & 1, m.open);
        assert_int_equal(block->closers >> bit & 1, kit_closes(row->category));
        last = row->time;
        i++;
    }
    mrd__free(m.intervals);
}

static void check_random(const kit_rows *rows)
{
    mrd__events *events = kit_events(rows);
    mrd__events_pair(events, 2);
    kit_key keys[64];
    size_t key_count = kit_keys(rows, keys, 64);
    assert_int_equal(events->key_count, key_count);
    for (size_t k = 0; k < key_count; k++) {
        const mrd__event_key *key = &events->keys[k];
        if (key->form != MRD__FORM_INTERVAL) continue;
        machine m = machine_run(rows, keys[k]);
        uint64_t first = events->intervals.first[key->row];
        assert_int_equal(events->intervals.first[key->row + 1] - first, m.count);
        for (size_t i = 0; i < m.count; i++) {
            assert_true(events->intervals.start[first + i] == m.intervals[i].start);
            assert_true(events->intervals.end[first + i] == m.intervals[i].end);
        }
        assert_int_equal(events->interval_unclosed[key->row], m.open);
        assert_int_equal(key->anomaly_count, m.anomalies);
        if (m.anomalies) assert_true(key->anomaly_first_ns == m.first_anomaly);
        check_blocks(events, k, rows, keys[k]);
        mrd__free(m.intervals);
    }
    mrd__events_destroy(&events);
}

static void random_lists(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        mrd__rng rng = {seed};
        kit_rows rows = random_rows(&rng, (size_t)mrd__rng_below(&rng, 600));
        check_random(&rows);
        mrd__free(rows.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goldens),
        cmocka_unit_test(random_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
