#include "query/cells.h"

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

typedef struct batch {
    mrd__cells *cells;
    mrd__table table;
    mrd__words tracks, names;
    void *column[FIELDS];
    uint8_t *bits[BITMAPS];
    size_t rows;
} batch;

static void name_cells(batch *out)
{
    for (size_t i = 0; i < out->cells->lanes.count; i++) {
        mrd__lane *lane = &out->cells->lanes.data[i];
        if (lane->cells.count > 0) mrd__words_code(&out->tracks, lane->track);
        if (lane->kind == MRD__TRACK_COUNTER) continue;
        for (size_t c = 0; c < lane->cells.count; c++) {
            mrd__cell *cell = &lane->cells.data[c];
            cell->name = (uint32_t)mrd__words_code(&out->names, cell->name);
        }
    }
}

static void set_bit(uint8_t *bits, size_t row)
{
    bits[row / 8] |= (uint8_t)(1u << (row % 8));
}

static void put_cell(batch *out, const mrd__lane *lane, size_t c)
{
    const mrd__window *window = out->cells->window;
    const mrd__cell *cell = &lane->cells.data[c];
    size_t row = out->rows++;
    double start = out->cells->buckets.edge[cell->bucket];
    bool counter = lane->kind == MRD__TRACK_COUNTER;
    bool instant = lane->kind == MRD__TRACK_INSTANT;
    if (mrd__window_prints_absolute(window))
        ((int64_t *)out->column[START])[row] = mrd__store_absolute(window->store, start);
    else
        ((double *)out->column[START])[row] = start;
    ((int32_t *)out->column[TRACK])[row] = mrd__words_code(&out->tracks, lane->track);
    ((uint16_t *)out->column[ROW])[row] =
        counter || instant ? 0 : window->store->row_infos[lane->row].line;
    ((uint32_t *)out->column[COUNT])[row] = cell->count;
    ((double *)out->column[BUSY])[row] = cell->busy;
    ((uint32_t *)out->column[LONGEST])[row] = counter ? 0 : cell->longest;
    ((int32_t *)out->column[NAME])[row] = counter ? 0 : (int32_t)cell->name;
    mrd__steps steps = counter ? lane->steps.data[c] : (mrd__steps){0, 0, 0};
    ((double *)out->column[MIN])[row] = steps.min;
    ((double *)out->column[MAX])[row] = steps.max;
    ((double *)out->column[LAST])[row] = steps.last;
    if (!counter) set_bit(out->bits[HAS_LONGEST], row);
    if (!counter && !instant) set_bit(out->bits[HAS_BUSY], row);
    if (counter) set_bit(out->bits[HAS_STEPS], row);
}

static mrd_status flush(batch *out, mrd_error *error)
{
    static const int bits_of[FIELDS] = {-1,          -1,          -1,        -1,        HAS_BUSY,
                                        HAS_LONGEST, HAS_LONGEST, HAS_STEPS, HAS_STEPS, HAS_STEPS};
    mrd__arrow_column columns[FIELDS] = {{0}};
    for (int i = 0; i < FIELDS; i++) {
        columns[i].data = out->column[i];
        if (bits_of[i] >= 0) columns[i].validity = out->bits[bits_of[i]];
    }
    MRD__TRY(mrd__table_rows(&out->table, columns, out->rows, error));
    for (int i = 0; i < BITMAPS; i++)
        memset(out->bits[i], 0, MRD__ARROW_BATCH_ROWS / 8);
    out->rows = 0;
    return MRD_OK;
}

static mrd_status write_cells(batch *out, mrd_error *error)
{
    for (size_t i = 0; i < out->cells->lanes.count; i++) {
        const mrd__lane *lane = &out->cells->lanes.data[i];
        for (size_t c = 0; c < lane->cells.count; c++) {
            if (out->rows == MRD__ARROW_BATCH_ROWS) MRD__TRY(flush(out, error));
            put_cell(out, lane, c);
        }
    }
    return out->rows > 0 ? flush(out, error) : MRD_OK;
}

static mrd_status write_table(batch *out, mrd_error *error)
{
    name_cells(out);
    mrd__arrow_dict tracks = mrd__words_of_numbers(&out->tracks);
    mrd__arrow_dict names = mrd__words_of_strings(&out->names, out->cells->window->store);
    MRD__TRY(mrd__table_dictionary(&out->table, TRACK, &tracks, error));
    MRD__TRY(mrd__table_dictionary(&out->table, NAME, &names, error));
    MRD__TRY(write_cells(out, error));
    return mrd__table_finish(&out->table, error);
}

mrd_status mrd__cells_write(mrd__cells *cells, const mrd_sink *sink, mrd_error *error)
{
    static const size_t widths[FIELDS] = {8, 4, 2, 4, 8, 4, 4, 8, 8, 8};
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
    for (int i = 0; i < FIELDS; i++)
        out.column[i] = mrd__alloc(MRD__ARROW_BATCH_ROWS * widths[i]);
    for (int i = 0; i < BITMAPS; i++)
        out.bits[i] = mrd__calloc(MRD__ARROW_BATCH_ROWS / 8, 1);
    mrd__words_init(&out.tracks, store->track_count);
    mrd__words_init(&out.names, store->string_count);
    mrd__window_table(cells->window, &out.table, fields, FIELDS, sink);
    mrd_status status = write_table(&out, error);
    mrd__table_reset(&out.table);
    mrd__words_reset(&out.tracks);
    mrd__words_reset(&out.names);
    for (int i = 0; i < FIELDS; i++)
        mrd__free(out.column[i]);
    for (int i = 0; i < BITMAPS; i++)
        mrd__free(out.bits[i]);
    return status;
}
