/* Aggregated answers (schema G): cells are computed key by key (event_cells.c), rows are written
 * bucket by bucket. Buckets are taken in slabs, so that memory stays bounded however many keys are
 * asked for; the usual question is one slab. */
#include "query/event_window.h"

#include "base/assert.h"
#include "base/os.h"
#include "query/event_cells.h"
#include "query/event_scratch.h"
#include "query/event_search.h"

#include <math.h>
#include <string.h>

#define SLAB_CELLS (1u << 20) /* about 60 bytes each while an answer is made */
#define PART_BUCKETS 64       /* buckets whose rows one task writes */

typedef struct cell_rows {
    double *bucket_start, *ratio, *last, *min, *max;
    int32_t *component;
    int8_t *category;
    uint32_t *events;
    uint8_t *form;
    uint8_t *ratio_valid, *last_valid;
    size_t count;
} cell_rows;

typedef struct answer {
    const mrd__event_window *window;
    mrd__buckets buckets;
    mrd__event_slab slab;
    int32_t *codes;     /* by choice */
    size_t *part_first; /* first row of each part, [parts + 1] */
    cell_rows rows;
    mrd__scratch scratch;
} answer;

/* ---- Which keys are in the answer ---- */

static bool is_active(const mrd__event_window *window, const mrd__event_choice *choice)
{
    const mrd__events *events = window->events;
    const mrd__event_key *key = &events->keys[choice->key];
    if (choice->high > choice->low) return true;
    if (key->form == MRD__FORM_INTERVAL) {
        return mrd__event_open(events, choice->key, choice->low) && events->end_ns > window->start;
    }
    if (key->form == MRD__FORM_COUNTER && choice->low)
        return events->value[key->first + choice->low - 1] != 0;
    return false;
}

/* ---- Rows ---- */

static bool is_emitted(const answer *a, uint8_t form, size_t cell)
{
    const mrd__event_slab *slab = &a->slab;
    if (slab->events[cell]) return true;
    if (form == MRD__FORM_INTERVAL) return slab->state[cell] > 0;
    return form == MRD__FORM_COUNTER && slab->state[cell] != 0 && !isnan(slab->state[cell]);
}

static uint8_t form_of(const answer *a, size_t choice)
{
    return a->window->events->keys[a->window->choices.data[choice].key].form;
}

static void part_range(const answer *a, size_t part, uint32_t *begin, uint32_t *end)
{
    *begin = (uint32_t)part * PART_BUCKETS;
    *end = *begin + PART_BUCKETS < a->slab.count ? *begin + PART_BUCKETS : a->slab.count;
}

static void count_part(void *ctx, size_t part, uint32_t worker)
{
    (void)worker;
    answer *a = ctx;
    uint32_t begin, end;
    part_range(a, part, &begin, &end);
    size_t rows = 0;
    for (size_t i = 0; i < a->window->choices.count; i++) {
        uint8_t form = form_of(a, i);
        for (uint32_t b = begin; b < end; b++)
            rows += is_emitted(a, form, i * a->slab.stride + b);
    }
    a->part_first[part + 1] = rows;
}

static void write_row(const answer *a, size_t choice, uint32_t bucket, size_t row)
{
    const mrd__event_slab *slab = &a->slab;
    const cell_rows *rows = &a->rows;
    const mrd__event_key *key = &a->window->events->keys[a->window->choices.data[choice].key];
    size_t cell = choice * slab->stride + bucket;
    bool counter = key->form == MRD__FORM_COUNTER;
    rows->bucket_start[row] = a->buckets.start + (slab->first + bucket) * a->buckets.width;
    rows->component[row] = a->codes[choice];
    rows->category[row] = (int8_t)key->category;
    rows->events[row] = slab->events[cell];
    rows->form[row] = key->form;
    rows->ratio[row] = key->form == MRD__FORM_INTERVAL ? slab->state[cell] : 0;
    rows->last[row] = counter ? slab->state[cell] : 0;
    if (!rows->min) return;
    rows->min[row] = counter ? slab->min[cell] : 0;
    rows->max[row] = counter ? slab->max[cell] : 0;
}

static void write_part(void *ctx, size_t part, uint32_t worker)
{
    (void)worker;
    answer *a = ctx;
    uint32_t begin, end;
    part_range(a, part, &begin, &end);
    size_t row = a->part_first[part];
    for (uint32_t b = begin; b < end; b++) {
        for (size_t i = 0; i < a->window->choices.count; i++) {
            if (!is_emitted(a, form_of(a, i), i * a->slab.stride + b)) continue;
            write_row(a, i, b, row++);
        }
    }
    mrd__assert(row == a->part_first[part + 1]);
}

/* Bit i: form[i] is the one asked. */
static void mark_valid(const uint8_t *form, size_t count, uint8_t wanted, uint8_t *valid)
{
    memset(valid, 0, (count + 7) / 8);
    for (size_t i = 0; i < count; i++)
        valid[i / 8] |= (uint8_t)((form[i] == wanted) << (i % 8));
}

/* ---- One slab ---- */

static void fill_key(void *ctx, size_t choice, uint32_t worker)
{
    (void)worker;
    mrd__event_slab_fill(&((answer *)ctx)->slab, choice);
}

static void make_rows(answer *a, uint32_t workers)
{
    size_t parts = (a->slab.count + PART_BUCKETS - 1) / PART_BUCKETS;
    a->part_first[0] = 0;
    mrd__parallel_for(workers, a->window->choices.count, fill_key, a);
    mrd__parallel_for(workers, parts, count_part, a);
    for (size_t part = 0; part < parts; part++)
        a->part_first[part + 1] += a->part_first[part];
    a->rows.count = a->part_first[parts];
    mrd__parallel_for(workers, parts, write_part, a);
    mark_valid(a->rows.form, a->rows.count, MRD__FORM_INTERVAL, a->rows.ratio_valid);
    mark_valid(a->rows.form, a->rows.count, MRD__FORM_COUNTER, a->rows.last_valid);
}

static mrd_status send_rows(const answer *a, mrd__table *table, mrd_error *error)
{
    const cell_rows *rows = &a->rows;
    mrd__arrow_column columns[] = {
        {.data = rows->bucket_start},
        {.data = rows->component},
        {.data = rows->category},
        {.data = rows->events},
        {.data = rows->ratio, .validity = rows->ratio_valid},
        {.data = rows->last, .validity = rows->last_valid},
        {.data = rows->min, .validity = rows->last_valid},
        {.data = rows->max, .validity = rows->last_valid},
    };
    if (rows->count == 0) return MRD_OK;
    return mrd__table_rows(table, columns, rows->count, error);
}

/* ---- The answer ---- */

/* The arrays of an answer and the bytes of one entry of each. */
#define ARRAYS 15

typedef struct array {
    void **slot;
    size_t item;
    bool by_cell; /* else by row */
} array;

static void list_arrays(answer *a, array list[ARRAYS])
{
    mrd__event_slab *slab = &a->slab;
    cell_rows *rows = &a->rows;
    const array all[ARRAYS] = {
        {(void **)&slab->events, sizeof(uint32_t), true},
        {(void **)&slab->state, sizeof(double), true},
        {(void **)&rows->bucket_start, sizeof(double), false},
        {(void **)&rows->ratio, sizeof(double), false},
        {(void **)&rows->last, sizeof(double), false},
        {(void **)&rows->component, sizeof(int32_t), false},
        {(void **)&rows->category, 1, false},
        {(void **)&rows->events, sizeof(uint32_t), false},
        {(void **)&rows->form, 1, false},
        {(void **)&rows->ratio_valid, 1, false},
        {(void **)&rows->last_valid, 1, false},
        {(void **)&slab->min, sizeof(double), true},
        {(void **)&slab->max, sizeof(double), true},
        {(void **)&rows->min, sizeof(double), false},
        {(void **)&rows->max, sizeof(double), false},
    };
    memcpy(list, all, sizeof all);
}

static void make_room(answer *a)
{
    size_t keys = a->window->choices.count;
    uint32_t width = a->buckets.count;
    if (keys && width > SLAB_CELLS / keys) width = SLAB_CELLS / (uint32_t)keys;
    if (width == 0) width = 1;
    a->slab.count = width;
    /* Odd lines apart, so that one bucket of many keys does not fall into one cache set. */
    a->slab.stride = width + 8 - width % 8 + 8;
    a->part_first = mrd__new_array(size_t, width / PART_BUCKETS + 2);
    size_t cells = keys * a->slab.stride, rows = keys * width, total = 0;
    array list[ARRAYS];
    list_arrays(a, list);
    size_t count = a->window->minmax ? ARRAYS : ARRAYS - 4;
    for (size_t i = 0; i < count; i++)
        total += mrd__scratch_rounded(list[i].item * (list[i].by_cell ? cells : rows));
    a->scratch = mrd__scratch_take(total);
    for (size_t i = 0; i < count; i++) {
        *list[i].slot =
            mrd__scratch_cut(&a->scratch, list[i].item * (list[i].by_cell ? cells : rows));
    }
}

static void reset(answer *a)
{
    mrd__buckets_reset(&a->buckets);
    mrd__scratch_give(&a->scratch);
    mrd__free(a->part_first);
    mrd__free(a->codes);
}

static mrd_status send_slabs(answer *a, mrd__table *table, mrd_error *error)
{
    uint32_t workers = mrd__cores(), width = a->slab.count;
    for (uint32_t first = 0; first < a->buckets.count; first += width) {
        uint32_t left = a->buckets.count - first;
        a->slab.first = first;
        a->slab.count = left < width ? left : width;
        make_rows(a, workers);
        MRD__TRY(send_rows(a, table, error));
    }
    return MRD_OK;
}

static mrd_status send_answer(answer *a, mrd__table *table, mrd_error *error)
{
    mrd__event_names names = {.events = a->window->events};
    for (size_t i = 0; i < a->window->choices.count; i++) {
        uint32_t key = a->window->choices.data[i].key;
        a->codes[i] = mrd__event_names_add(&names, a->window->events->keys[key].component);
    }
    mrd__arrow_dict categories = mrd__event_categories_dict(a->window->events);
    mrd__arrow_dict components = mrd__event_names_dict(&names);
    mrd_status status = mrd__table_dictionary(table, 1, &components, error);
    if (status == MRD_OK) status = mrd__table_dictionary(table, 2, &categories, error);
    if (status == MRD_OK) status = send_slabs(a, table, error);
    if (status == MRD_OK) status = mrd__table_finish(table, error);
    mrd__vec_reset(&names.used);
    return status;
}

/* The window with its active keys only: the others have no row in any bucket. */
static mrd__event_window active_window(const mrd__event_window *window)
{
    mrd__event_window active = *window;
    active.choices.data = mrd__alloc(window->choices.count * sizeof(mrd__event_choice));
    active.choices.count = 0;
    for (size_t i = 0; i < window->choices.count; i++) {
        if (is_active(window, &window->choices.data[i]))
            active.choices.data[active.choices.count++] = window->choices.data[i];
    }
    return active;
}

mrd_status mrd__event_window_cells(const mrd__event_window *window, const mrd_sink *sink,
                                   mrd_error *error)
{
    static const mrd__arrow_field fields[] = {
        {"bucket_start_ns", MRD__ARROW_FLOAT64, false}, {"component", MRD__ARROW_DICT32, false},
        {"category", MRD__ARROW_DICT8, false},          {"event_count", MRD__ARROW_UINT32, false},
        {"busy_ratio", MRD__ARROW_FLOAT64, true},       {"last_value", MRD__ARROW_FLOAT64, true},
        {"min_value", MRD__ARROW_FLOAT64, true},        {"max_value", MRD__ARROW_FLOAT64, true},
    };
    size_t field_count = sizeof fields / sizeof *fields - (window->minmax ? 0 : 2);
    answer a = {0};
    MRD__TRY(mrd__buckets_init(&a.buckets, window->start, window->end, window->end_inside,
                               window->buckets, error));
    mrd__event_window active = active_window(window);
    a.window = &active;
    a.slab.window = &active;
    a.slab.buckets = &a.buckets;
    a.codes = mrd__new_array(int32_t, active.choices.count + 1);
    make_room(&a);
    mrd__table table;
    mrd__event_window_table(window, &table, fields, field_count, sink);
    mrd_status status = send_answer(&a, &table, error);
    mrd__table_reset(&table);
    mrd__free(active.choices.data);
    reset(&a);
    return status;
}
