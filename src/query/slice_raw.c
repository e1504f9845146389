/* Raw windows: schema SR. The exact number of rows is known from searches alone before anything is
 * touched; what passes is then put into (time, file order) by its rank and copied out.
 *
 * Rows: slices that overlap the window, and instants inside it as slices without length (row and
 * depth 0). Counter samples have no place in SR, it has no value; they are asked in buckets. Order:
 * start time, then slices before instants, then file order. */
#include "query/event_scratch.h"
#include "query/points.h"
#include "query/window.h"

#include <string.h>

enum {
    ID,
    TS,
    DUR,
    TRACK,
    ROW,
    DEPTH,
    NAME,
    CATEGORY,
    FIELDS
};

/* A run of neighbours in the columns that passes. */
typedef struct run {
    uint64_t first, last;
    uint32_t track, row; /* row of the store, MRD__NONE: instants */
} run;

/* A fact's place in (time, file order) among its kind, and where it lies. */
typedef struct entry {
    uint32_t rank, item, run;
} entry;

typedef struct raw {
    const mrd__window *window;
    MRD__VEC(run) runs;
    uint64_t slices, instants;
    const entry *slice, *instant; /* sorted; in memory */
    mrd__scratch memory;
    mrd__words tracks, names, categories;
    void *column[FIELDS];
} raw;

static void add_run(raw *r, uint64_t first, uint64_t last, uint32_t track, uint32_t row)
{
    if (first >= last) return;
    mrd__vec_push(&r->runs, ((run){first, last, track, row}));
    *(row == MRD__NONE ? &r->instants : &r->slices) += last - first;
}

/* Slices that overlap the window are neighbours in their row. */
static void find_slices(raw *r, uint32_t id, const mrd__track *track)
{
    const mrd__window *w = r->window;
    const mrd__rows *rows = &w->store->rows;
    for (uint32_t row = track->first_row; row < track->first_row + track->row_count; row++) {
        uint64_t first = mrd__rows_first_touching(rows, row, w->start);
        uint64_t last = mrd__rows_lower(rows, row, w->end);
        if (w->end_inside)
            last = mrd__points_search(rows->start, last, rows->first[row + 1], w->end, true);
        add_run(r, first, last, id, row);
    }
}

static void find_instants(raw *r, uint32_t id, const mrd__track *track)
{
    const mrd__window *w = r->window;
    const double *time = w->store->instants.time;
    uint64_t end = track->first + track->count;
    uint64_t first = mrd__points_search(time, track->first, end, w->start, false);
    add_run(r, first, mrd__points_search(time, first, end, w->end, w->end_inside), id, MRD__NONE);
}

static mrd_status find_runs(raw *r, mrd_error *error)
{
    const mrd__window *w = r->window;
    for (size_t i = 0; i < w->tracks.count; i++) {
        uint32_t id = w->tracks.data[i];
        const mrd__track *track = &w->store->tracks[id];
        if (track->kind == MRD__TRACK_INSTANT)
            find_instants(r, id, track);
        else if (track->kind != MRD__TRACK_COUNTER)
            find_slices(r, id, track);
    }
    uint64_t rows = r->slices + r->instants;
    if (rows <= MRD__MAX_WINDOW_ROWS) return MRD_OK;
    mrd__fail(error, MRD_ERR_ARGUMENT, "too_many_rows",
              "the window holds %llu rows; at most %d are allowed, or buckets (%d)",
              (unsigned long long)rows, MRD__MAX_WINDOW_ROWS, MRD__SUGGESTED_BUCKETS);
    if (error != NULL) {
        error->rows = rows;
        error->limit = MRD__MAX_WINDOW_ROWS;
    }
    return MRD_ERR_ARGUMENT;
}

/* ---- Order ---- */

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

/* One pass of a radix sort by rank - least. */
static void sort_pass(const entry *from, entry *to, size_t count, uint32_t least, uint32_t shift)
{
    uint32_t place[DIGITS] = {0};
    for (size_t i = 0; i < count; i++)
        place[(from[i].rank - least) >> shift & (DIGITS - 1)]++;
    uint32_t total = 0;
    for (uint32_t d = 0; d < DIGITS; d++) {
        uint32_t size = place[d];
        place[d] = total;
        total += size;
    }
    for (size_t i = 0; i < count; i++)
        to[place[(from[i].rank - least) >> shift & (DIGITS - 1)]++] = from[i];
}

/* By rank. What lies in one window has ranks close together, so that two passes are usual. Returns
 * where the result is: entries or scratch. */
static entry *sort_entries(entry *entries, entry *scratch, size_t count)
{
    if (count == 0) return entries;
    uint32_t least = entries[0].rank;
    uint32_t most = least;
    for (size_t i = 1; i < count; i++) {
        least = entries[i].rank < least ? entries[i].rank : least;
        most = entries[i].rank > most ? entries[i].rank : most;
    }
    for (uint32_t shift = 0; shift < 32 && (most - least) >> shift != 0; shift += DIGIT_BITS) {
        sort_pass(entries, scratch, count, least, shift);
        entry *sorted = scratch;
        scratch = entries;
        entries = sorted;
    }
    return entries;
}

/* Everything that passes, each kind sorted by rank. */
static void fill_entries(raw *r, entry *entries, entry *scratch)
{
    const mrd__store *store = r->window->store;
    entry *slice = entries;
    entry *instant = entries + r->slices;
    for (uint32_t i = 0; i < r->runs.count; i++) {
        const run *at = &r->runs.data[i];
        bool is_slice = at->row != MRD__NONE;
        const uint32_t *rank = is_slice ? store->slices.order : store->instants.order;
        entry **out = is_slice ? &slice : &instant;
        for (uint64_t item = at->first; item < at->last; item++)
            *(*out)++ = (entry){rank[item], (uint32_t)item, i};
    }
    r->slice = sort_entries(entries, scratch, r->slices);
    r->instant = sort_entries(entries + r->slices, scratch + r->slices, r->instants);
}

/* ---- Rows ---- */

static void put_time(const raw *r, size_t at, double time, int64_t exact)
{
    if (mrd__window_prints_absolute(r->window))
        ((int64_t *)r->column[TS])[at] = exact;
    else
        ((double *)r->column[TS])[at] = time;
}

static void put_length(const raw *r, size_t at, double length, int64_t exact)
{
    if (mrd__window_prints_absolute(r->window))
        ((int64_t *)r->column[DUR])[at] = exact;
    else
        ((double *)r->column[DUR])[at] = length;
}

static void put_names(raw *r, size_t at, mrd__str_id name, mrd__str_id category)
{
    ((int32_t *)r->column[NAME])[at] = mrd__words_code(&r->names, name);
    ((int32_t *)r->column[CATEGORY])[at] = mrd__words_code(&r->categories, category);
}

static void put_slice(raw *r, size_t at, const entry *from)
{
    const mrd__store *store = r->window->store;
    const mrd__row *row = &store->row_infos[r->runs.data[from->run].row];
    uint32_t id = from->item;
    bool absolute = mrd__window_prints_absolute(r->window);
    bool open = store->slices.flags[id] & MRD__SLICE_UNCLOSED;
    int64_t start = absolute ? mrd__store_slice_start(store, id) : 0;
    int64_t length = -1;
    if (absolute && !open) /* in unsigned arithmetic: they may lie further apart than int64 holds */
        length = (int64_t)((uint64_t)mrd__store_slice_end(store, id) - (uint64_t)start);
    put_time(r, at, store->slices.start[id], start);
    put_length(r, at, open ? -1 : store->slices.end[id] - store->slices.start[id], length);
    ((uint16_t *)r->column[ROW])[at] = row->line;
    ((uint16_t *)r->column[DEPTH])[at] = row->depth;
    put_names(r, at, store->slices.name[id], store->slices.category[id]);
}

static void put_instant(raw *r, size_t at, const entry *from)
{
    const mrd__store *store = r->window->store;
    uint32_t id = from->item;
    bool absolute = mrd__window_prints_absolute(r->window);
    put_time(r, at, store->instants.time[id], absolute ? mrd__store_instant_time(store, id) : 0);
    put_length(r, at, 0, 0);
    ((uint16_t *)r->column[ROW])[at] = 0;
    ((uint16_t *)r->column[DEPTH])[at] = 0;
    put_names(r, at, store->instants.name[id], store->instants.category[id]);
}

static void fill_columns(raw *r)
{
    const mrd__store *store = r->window->store;
    const entry *slice = r->slice;
    const entry *slices_end = slice + r->slices;
    const entry *instant = r->instant;
    const entry *instants_end = instant + r->instants;
    for (size_t at = 0; slice < slices_end || instant < instants_end; at++) {
        bool is_slice = instant == instants_end ||
                        (slice < slices_end &&
                         store->slices.start[slice->item] <= store->instants.time[instant->item]);
        const entry *from = is_slice ? slice++ : instant++;
        ((uint32_t *)r->column[ID])[at] = from->item;
        ((int32_t *)r->column[TRACK])[at] =
            mrd__words_code(&r->tracks, r->runs.data[from->run].track);
        if (is_slice)
            put_slice(r, at, from);
        else
            put_instant(r, at, from);
    }
}

static mrd_status write_rows(raw *r, const mrd__arrow_field *fields, size_t rows,
                             const mrd_sink *sink, mrd_error *error)
{
    mrd__table table;
    mrd__window_table(r->window, &table, fields, FIELDS, sink);
    mrd__arrow_dict tracks = mrd__words_of_numbers(&r->tracks);
    mrd__arrow_dict names = mrd__words_of_strings(&r->names, r->window->store);
    mrd__arrow_dict categories = mrd__words_of_strings(&r->categories, r->window->store);
    mrd__arrow_column columns[FIELDS] = {{0}};
    for (int i = 0; i < FIELDS; i++)
        columns[i].data = r->column[i];
    mrd_status status = mrd__table_dictionary(&table, TRACK, &tracks, error);
    if (status == MRD_OK) status = mrd__table_dictionary(&table, NAME, &names, error);
    if (status == MRD_OK) status = mrd__table_dictionary(&table, CATEGORY, &categories, error);
    if (status == MRD_OK) status = mrd__table_rows(&table, columns, rows, error);
    if (status == MRD_OK) status = mrd__table_finish(&table, error);
    mrd__table_reset(&table);
    return status;
}

static void take_memory(raw *r, size_t rows)
{
    static const size_t widths[FIELDS] = {4, 8, 8, 4, 2, 2, 4, 4};
    size_t size = 2 * mrd__scratch_rounded(rows * sizeof(entry));
    for (int i = 0; i < FIELDS; i++)
        size += mrd__scratch_rounded(rows * widths[i]);
    r->memory = mrd__scratch_take(size);
    for (int i = 0; i < FIELDS; i++)
        r->column[i] = mrd__scratch_cut(&r->memory, rows * widths[i]);
}

static mrd_status answer(raw *r, const mrd_sink *sink, mrd_error *error)
{
    mrd__arrow_field fields[FIELDS] = {
        {"id", MRD__ARROW_UINT32, false},      {"ts_ns", MRD__ARROW_FLOAT64, false},
        {"dur_ns", MRD__ARROW_FLOAT64, false}, {"track", MRD__ARROW_DICT32, false},
        {"row", MRD__ARROW_UINT16, false},     {"depth", MRD__ARROW_UINT16, false},
        {"name", MRD__ARROW_DICT32, false},    {"category", MRD__ARROW_DICT32, false},
    };
    if (mrd__window_prints_absolute(r->window))
        fields[TS].type = fields[DUR].type = MRD__ARROW_INT64;
    size_t rows = r->slices + r->instants;
    take_memory(r, rows);
    mrd__words_init(&r->tracks, r->window->store->track_count);
    mrd__words_init(&r->names, r->window->store->string_count);
    mrd__words_init(&r->categories, r->window->store->string_count);
    entry *entries = mrd__scratch_cut(&r->memory, rows * sizeof(entry));
    fill_entries(r, entries, mrd__scratch_cut(&r->memory, rows * sizeof(entry)));
    fill_columns(r);
    mrd_status status = write_rows(r, fields, rows, sink, error);
    mrd__words_reset(&r->tracks);
    mrd__words_reset(&r->names);
    mrd__words_reset(&r->categories);
    mrd__scratch_give(&r->memory);
    return status;
}

mrd_status mrd__window_raw(const mrd__window *window, const mrd_sink *sink, mrd_error *error)
{
    raw r = {.window = window};
    mrd_status status = find_runs(&r, error);
    if (status == MRD_OK) status = answer(&r, sink, error);
    mrd__vec_reset(&r.runs);
    return status;
}
