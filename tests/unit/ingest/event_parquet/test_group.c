/* Rows in any batches, order and number of threads become the same events as a straight list. */
#include "event_kit/events.h"
#include "ingest/event_parquet/collect.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

typedef struct batches {
    kit_rows rows; /* in file order */
    uint32_t *component;
    mrd__event_info info;
} batches;

static kit_rows random_rows(mrd__rng *rng, size_t count, bool sorted, bool with_details)
{
    static const char *const details[] = {"", "{}", "{\"a\": 1}", "{\"longer\": [1, 2, 3]}"};
    kit_rows rows = {.data = mrd__new_array(kit_row, count + 1), .count = count};
    double last = -50;
    for (size_t i = 0; i < count; i++) {
        kit_row *row = &rows.data[i];
        last += (double)mrd__rng_below(rng, 3) / 4;
        row->order = i;
        row->time = sorted ? last : (double)mrd__rng_below(rng, count / 4 + 1) / 4 - 10;
        if (row->time == 0 && mrd__rng_next(rng) & 1) row->time = -0.0;
        row->category = (int)mrd__rng_below(rng, MRD__CAT_COUNT);
        row->value = (double)mrd__rng_below(rng, 100) / 3;
        snprintf(row->component, sizeof row->component, "c_%u", (unsigned)mrd__rng_below(rng, 9));
        if (with_details && mrd__rng_below(rng, 3)) row->detail = details[mrd__rng_below(rng, 4)];
    }
    return rows;
}

/* File numbering of components: a random one. */
static void number_components(batches *b, mrd__rng *rng)
{
    uint32_t numbers[9];
    b->info.components = mrd__new_array(mrd__str, 9);
    b->component = mrd__new_array(uint32_t, b->rows.count + 1);
    memset(numbers, 0xff, sizeof numbers);
    for (size_t tries = 0; tries < b->rows.count * 4; tries++) {
        size_t i = tries < b->rows.count * 3 ? mrd__rng_below(rng, b->rows.count)
                                             : tries - b->rows.count * 3;
        const char *name = b->rows.data[i].component;
        uint32_t *number = &numbers[name[2] - '0'];
        if (*number == UINT32_MAX) {
            *number = (uint32_t)b->info.component_count;
            b->info.components[b->info.component_count++] =
                (mrd__str){mrd__strndup(name, strlen(name)), strlen(name)};
        }
        b->component[i] = *number;
    }
}

static void add_batch(mrd__collect *collect, const batches *b, size_t first, size_t rows,
                      uint32_t worker)
{
    double *time = mrd__new_array(double, rows), *value = mrd__new_array(double, rows);
    uint8_t *category = mrd__new_array(uint8_t, rows);
    mrd__str *detail = mrd__new_array(mrd__str, rows);
    bool any = false;
    for (size_t i = 0; i < rows; i++) {
        const kit_row *row = &b->rows.data[first + i];
        time[i] = row->time;
        value[i] = row->value;
        category[i] = (uint8_t)row->category;
        if (row->detail) detail[i] = (mrd__str){row->detail, strlen(row->detail)};
        any |= row->detail != NULL;
    }
    mrd__event_batch batch = {.first_row = first,
                              .rows = rows,
                              .worker = worker,
                              .time = time,
                              .value = value,
                              .category = category,
                              .component = b->component + first,
                              .detail = any ? detail : NULL};
    mrd__collect_add(collect, &batch);
    mrd__free(time);
    mrd__free(value);
    mrd__free(category);
    mrd__free(detail);
}

/* Batches of random sizes, in random order, from random workers. */
static void add_all(mrd__collect *collect, const batches *b, mrd__rng *rng)
{
    size_t starts[512], count = 0;
    for (size_t at = 0; at < b->rows.count; at += 1 + mrd__rng_below(rng, b->rows.count / 8 + 1)) {
        mrd__assert(count < 511);
        starts[count++] = at;
    }
    starts[count] = b->rows.count;
    bool done[512] = {false};
    for (size_t left = count; left;) {
        size_t i = mrd__rng_below(rng, count);
        if (done[i]) continue;
        add_batch(collect, b, starts[i], starts[i + 1] - starts[i],
                  (uint32_t)mrd__rng_below(rng, 5));
        done[i] = true;
        left--;
    }
}

static void check_keys(const mrd__events *got, const mrd__events *want)
{
    assert_int_equal(got->component_count, want->component_count);
    for (size_t i = 0; i < want->component_count; i++)
        assert_true(mrd__str_equal(got->components[i], want->components[i]));
    assert_int_equal(got->key_count, want->key_count);
    for (size_t k = 0; k < want->key_count; k++) {
        const mrd__event_key *a = &got->keys[k], *b = &want->keys[k];
        assert_int_equal(a->component, b->component);
        assert_int_equal(a->form, b->form);
        assert_int_equal(a->category, b->category);
        assert_int_equal(a->closer, b->closer);
        assert_int_equal(a->first, b->first);
        assert_int_equal(a->count, b->count);
        assert_int_equal(a->row, b->row);
    }
}

static void check_events(const mrd__events *got, const mrd__events *want)
{
    assert_int_equal(got->count, want->count);
    check_keys(got, want);
    for (size_t i = 0; i < want->count; i++) {
        assert_memory_equal(&got->time[i], &want->time[i], sizeof(double)); /* bit for bit */
        assert_true(got->value[i] == want->value[i]);
        assert_int_equal(got->rank[i], want->rank[i]);
    }
    for (uint32_t rank = 0; rank < want->count; rank++) {
        mrd__str a, b;
        bool has = mrd__event_detail(want, rank, &b);
        assert_int_equal(mrd__event_detail(got, rank, &a), has);
        if (has) assert_true(mrd__str_equal(a, b));
    }
    assert_true(got->start_ns == want->start_ns);
}

static void check_seed(uint64_t seed)
{
    mrd__rng rng = {seed};
    size_t count = (size_t)mrd__rng_below(&rng, seed % 5 == 0 ? 4 : 3000);
    batches b = {.rows = random_rows(&rng, count, seed & 1, seed & 2)};
    number_components(&b, &rng);
    mrd__collect *collect = mrd__new(mrd__collect);
    mrd_error error = {0};
    assert_int_equal(mrd__collect_begin(collect, count, &error), MRD_OK);
    add_all(collect, &b, &rng);
    double last_ns = 0;
    mrd__events *got = mrd__collect_group(collect, &b.info, 1 + (uint32_t)(seed % 3), &last_ns);
    kit_sort(&b.rows);
    mrd__events *want = kit_events(&b.rows);
    check_events(got, want);
    if (count)
        assert_true(last_ns == b.rows.data[count - 1].time);
    else
        assert_true(last_ns < 0 && last_ns * 2 == last_ns);
    mrd__events_destroy(&got);
    mrd__events_destroy(&want);
    mrd__event_info_reset(&b.info);
    mrd__collect_reset(collect);
    mrd__free(collect);
    mrd__free(b.component);
    mrd__free(b.rows.data);
}

static void any_batches(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++)
        check_seed(seed);
}

static void too_many(void **state)
{
    (void)state;
    mrd__collect *collect = mrd__new(mrd__collect);
    mrd_error error = {0};
    assert_int_equal(mrd__collect_begin(collect, MRD__MAX_EVENTS + 1, &error), MRD_ERR_LIMIT);
    assert_string_equal(error.code, "too_many_events");
    mrd__free(collect);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_batches),
        cmocka_unit_test(too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
