#include "query/cells.h"

#include "base/os.h"

#include <string.h>

enum {
    START,
    TRACK,
    ROW,
    COUNT,
    BUSY,
    LONGEST,
    NAME,
    MIN,
    MAX,
    LAST,
    FIELDS
};

/* Bits of one batch: which of its rows have a value in these columns. */
enum {
    HAS_BUSY,
    HAS_LONGEST,
    HAS_STEPS,
    BITMAPS
};

#define PART_ROWS 4096 /* rows one task fills; whole bytes of the bitmaps */

typedef struct batch {
    mrd__cells *cells;
    mrd__table table;
    mrd__words tracks, names;
    mrd__scratch memory;
    void *column[FIELDS];
    uint8_t *bits[BITMAPS];
    uint64_t first; /* answer row of the batch's first */
    size_t rows;
} batch;

/* Names and tracks to codes, in row order. */
static uint64_t name_cells(batch *out)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < out->cells->lanes.count; i++) {
        mrd__lane *lane = &out->cells->lanes.data[i];
        lane->first = rows;
        rows += lane->count;
        if (lane->count > 0) mrd__words_code(&out->tracks, lane->track);
        if (lane->kind == MRD__TRACK_COUNTER) continue;
        for (size_t c = 0; c < lane->count; c++) {
            mrd__cell *cell = &lane->cells[c];
            cell->name = (uint32_t)mrd__words_code(&out->names, cell->name);
        }
    }
    return rows;
}

/* ---- One run of a lane's cells into rows ---- */

static void set_bits(uint8_t *bits, size_t row, size_t count, bool value)
{
    for (; count > 0 && row % 8 != 0; row++, count--)
        bits[row / 8] = (uint8_t)((bits[row / 8] & ~(1u << (row % 8))) | value << (row % 8));
    memset(bits + row / 8, value ? 0xff : 0, count / 8);
    for (row += count / 8 * 8, count %= 8; count > 0; row++, count--)
        bits[row / 8] = (uint8_t)((bits[row / 8] & ~(1u << (row % 8))) | value << (row % 8));
}

static void put_starts(const batch *out, const mrd__cell *cells, size_t count, size_t row)
{
    const mrd__window *window = out->cells->window;
    const double *edge = out->cells->buckets.edge;
    if (mrd__window_prints_absolute(window)) {
        int64_t *to = (int64_t *)out->column[START] + row;
        for (size_t i = 0; i < count; i++)
            to[i] = mrd__store_absolute(window->store, edge[cells[i].bucket]);
    } else {
        double *to = (double *)out->column[START] + row;
        for (size_t i = 0; i < count; i++)
            to[i] = edge[cells[i].bucket];
    }
}

static void put_cells(const batch *out, const mrd__cell *cells, size_t count, size_t row,
                      bool counter)
{
    uint32_t *events = (uint32_t *)out->column[COUNT] + row;
    double *busy = (double *)out->column[BUSY] + row;
    uint32_t *longest = (uint32_t *)out->column[LONGEST] + row;
    int32_t *name = (int32_t *)out->column[NAME] + row;
    for (size_t i = 0; i < count; i++) {
        events[i] = cells[i].count;
        busy[i] = cells[i].busy;
        longest[i] = counter ? 0 : cells[i].longest;
        name[i] = counter ? 0 : (int32_t)cells[i].name;
    }
}

static void put_steps(const batch *out, const mrd__steps *steps, size_t count, size_t row)
{
    double *min = (double *)out->column[MIN] + row;
    double *max = (double *)out->column[MAX] + row;
    double *last = (double *)out->column[LAST] + row;
    for (size_t i = 0; i < count; i++) {
        min[i] = steps != NULL ? steps[i].min : 0;
        max[i] = steps != NULL ? steps[i].max : 0;
        last[i] = steps != NULL ? steps[i].last : 0;
    }
}

static void put_run(batch *out, const mrd__lane *lane, size_t first, size_t count, size_t row)
{
    bool counter = lane->kind == MRD__TRACK_COUNTER;
    bool slices = !counter && lane->kind != MRD__TRACK_INSTANT;
    int32_t track = (int32_t)out->tracks.code[lane->track] - 1;
    uint16_t line = slices ? out->cells->window->store->row_infos[lane->row].line : 0;
    int32_t *tracks = (int32_t *)out->column[TRACK] + row;
    uint16_t *lines = (uint16_t *)out->column[ROW] + row;
    for (size_t i = 0; i < count; i++) {
        tracks[i] = track;
        lines[i] = line;
    }
    put_starts(out, lane->cells + first, count, row);
    put_cells(out, lane->cells + first, count, row, counter);
    put_steps(out, counter ? lane->steps + first : NULL, count, row);
    set_bits(out->bits[HAS_BUSY], row, count, slices);
    set_bits(out->bits[HAS_LONGEST], row, count, !counter);
    set_bits(out->bits[HAS_STEPS], row, count, counter);
}

/* ---- Batches ---- */

/* The lane that holds an answer row: the last one that begins at or before it and is not empty. */
static size_t lane_at(const mrd__cells *cells, uint64_t row)
{
    size_t low = 0;
    size_t high = cells->lanes.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (cells->lanes.data[middle].first <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void fill_part(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    batch *out = ctx;
    size_t row = index * PART_ROWS;
    size_t stop = row + PART_ROWS < out->rows ? row + PART_ROWS : out->rows;
    for (size_t i = lane_at(out->cells, out->first + row); row < stop; i++) {
        const mrd__lane *lane = &out->cells->lanes.data[i];
        size_t first = out->first + row - lane->first;
        size_t count = lane->count - first;
        if (count > stop - row) count = stop - row;
        put_run(out, lane, first, count, row);
        row += count;
    }
}

static mrd_status write_batch(batch *out, mrd_error *error)
{
    static const int bits_of[FIELDS] = {-1,          -1,          -1,        -1,        HAS_BUSY,
                                        HAS_LONGEST, HAS_LONGEST, HAS_STEPS, HAS_STEPS, HAS_STEPS};
    for (int i = 0; i < BITMAPS; i++) /* the same bytes go out whatever memory held before */
        out->bits[i][(out->rows - 1) / 8] = 0;
    uint32_t workers = out->rows > 2 * PART_ROWS ? mrd__cores() : 1;
    mrd__parallel_for(workers, (out->rows + PART_ROWS - 1) / PART_ROWS, fill_part, out);
    mrd__arrow_column columns[FIELDS] = {{0}};
    for (int i = 0; i < FIELDS; i++) {
        columns[i].data = out->column[i];
        if (bits_of[i] >= 0) columns[i].validity = out->bits[bits_of[i]];
    }
    return mrd__table_rows(&out->table, columns, out->rows, error);
}

static void take_columns(batch *out, uint64_t rows)
{
    static const size_t widths[FIELDS] = {8, 4, 2, 4, 8, 4, 4, 8, 8, 8};
    size_t most = rows < MRD__ARROW_BATCH_ROWS ? (size_t)rows : MRD__ARROW_BATCH_ROWS;
    size_t size = BITMAPS * mrd__scratch_rounded(most / 8 + 1);
    for (int i = 0; i < FIELDS; i++)
        size += mrd__scratch_rounded(most * widths[i]);
    out->memory = mrd__scratch_take(size);
    for (int i = 0; i < FIELDS; i++)
        out->column[i] = mrd__scratch_cut(&out->memory, most * widths[i]);
    for (int i = 0; i < BITMAPS; i++)
        out->bits[i] = mrd__scratch_cut(&out->memory, most / 8 + 1);
}

static mrd_status write_batches(batch *out, uint64_t rows, mrd_error *error)
{
    mrd_status status = MRD_OK;
    take_columns(out, rows);
    for (; out->first < rows && status == MRD_OK; out->first += out->rows) {
        uint64_t left = rows - out->first;
        out->rows = left < MRD__ARROW_BATCH_ROWS ? (size_t)left : MRD__ARROW_BATCH_ROWS;
        status = write_batch(out, error);
    }
    mrd__scratch_give(&out->memory);
    return status;
}

static mrd_status write_table(batch *out, mrd_error *error)
{
    uint64_t rows = name_cells(out);
    mrd__arrow_dict tracks = mrd__words_of_numbers(&out->tracks);
    mrd__arrow_dict names = mrd__words_of_strings(&out->names, out->cells->window->store);
    MRD__TRY(mrd__table_dictionary(&out->table, TRACK, &tracks, error));
    MRD__TRY(mrd__table_dictionary(&out->table, NAME, &names, error));
    MRD__TRY(write_batches(out, rows, error));
    return mrd__table_finish(&out->table, error);
}

mrd_status mrd__cells_write(mrd__cells *cells, const mrd_sink *sink, mrd_error *error)
{
    mrd__arrow_field fields[FIELDS] = {
        {"bucket_start_ns", MRD__ARROW_FLOAT64, false},
        {"track", MRD__ARROW_DICT32, false},
        {"row", MRD__ARROW_UINT16, false},
        {"event_count", MRD__ARROW_UINT32, false},
        {"busy_ratio", MRD__ARROW_FLOAT64, true},
        {"longest_id", MRD__ARROW_UINT32, true},
        {"longest_name", MRD__ARROW_DICT32, true},
        {"min_value", MRD__ARROW_FLOAT64, true},
        {"max_value", MRD__ARROW_FLOAT64, true},
        {"last_value", MRD__ARROW_FLOAT64, true},
    };
    const mrd__store *store = cells->window->store;
    if (mrd__window_prints_absolute(cells->window)) fields[START].type = MRD__ARROW_INT64;
    batch out = {.cells = cells};
    mrd__words_init(&out.tracks, store->track_count);
    mrd__words_init(&out.names, store->string_count);
    mrd__window_table(cells->window, &out.table, fields, FIELDS, sink);
    mrd_status status = write_table(&out, error);
    mrd__table_reset(&out.table);
    mrd__words_reset(&out.tracks);
    mrd__words_reset(&out.names);
    return status;
}
