/* `slice`: plain slices, intervals of event records, instants (of no length, as in the original)
 * and instants of event records, one id space (sql/inside.h). */
#include "base/alloc.h"
#include "sql/table.h"

enum {
    PLAIN,
    INTERVAL,
    INSTANT,
    EVENT_INSTANT
};

enum {
    ID,
    TS,
    DUR,
    TRACK_ID,
    CATEGORY,
    NAME,
    DEPTH,
    PARENT_ID,
    ARG_SET_ID,
    SLICE_ID,
    CAT,
    LANE_ID,
    LINE,
    FLAGS,
    RANK,
    STANDS_BEFORE,
    FIRST_NULL, /* thread_ts, thread_dur and so on: the store has none */
};

static const mrd__sql_column columns[] = {
    {"id", MRD__SQL_INT},
    {"ts", MRD__SQL_INT},
    {"dur", MRD__SQL_INT},
    {"track_id", MRD__SQL_INT},
    {"category", MRD__SQL_CATEGORY},
    {"name", MRD__SQL_NAME},
    {"depth", MRD__SQL_INT},
    {"parent_id", MRD__SQL_INT},
    {"arg_set_id", MRD__SQL_INT},
    {"slice_id", MRD__SQL_INT},
    {"cat", MRD__SQL_CATEGORY},
    {"lane_id", MRD__SQL_INT},
    {"line", MRD__SQL_INT},
    {"flags", MRD__SQL_TEXT},
    {"rank", MRD__SQL_INT},
    {"stands_before", MRD__SQL_BOOL},
    {"thread_ts", MRD__SQL_INT},
    {"thread_dur", MRD__SQL_INT},
    {"thread_instruction_count", MRD__SQL_INT},
    {"thread_instruction_delta", MRD__SQL_INT},
};

/* ---- Which rows ---- */

/* Intervals of a row that touch the range. */
static void add_row(mrd__sql_pieces *out, uint32_t kind, const mrd__rows *rows, uint32_t row,
                    int64_t origin, const mrd__sql_range *range)
{
    uint64_t first = rows->first[row];
    uint64_t end = rows->first[row + 1];
    if (range->has_start)
        first = mrd__rows_first_touching(rows, row, mrd__sql_relative(origin, range->start_ns));
    if (range->has_end) end = mrd__rows_lower(rows, row, mrd__sql_relative(origin, range->end_ns));
    mrd__sql_add_piece(out, kind, row, first, end);
}

static void event_pieces(const mrd__sql *sql, mrd__event_form form, const mrd__sql_range *range,
                         mrd__sql_pieces *out)
{
    const mrd__events *events = sql->events;
    for (uint32_t k = 0; k < events->key_count; k++) {
        const mrd__event_key *key = &events->keys[k];
        if (range->has_track && sql->event_tracks[k] != range->track) continue;
        if (key->form != form) continue;
        if (form == MRD__FORM_INTERVAL)
            add_row(out, INTERVAL, &events->intervals, key->row, 0, range);
        if (form == MRD__FORM_INSTANT)
            mrd__sql_add_points(out, EVENT_INSTANT, k, events->time, key->first,
                                key->first + key->count, 0, range);
    }
}

static void slice_pieces(const mrd__sql *sql, const mrd__sql_range *range, bool whole,
                         mrd__sql_pieces *out)
{
    const mrd__store *store = sql->store;
    if (whole) mrd__sql_add_piece(out, PLAIN, 0, 0, store->slices.count);
    for (uint32_t row = 0; !whole && row < store->rows.row_count; row++) {
        if (range->has_track && sql->row_tracks[row] != range->track) continue;
        add_row(out, PLAIN, &store->rows, row, store->origin_ns, range);
    }
}

static void instant_pieces(const mrd__sql *sql, const mrd__sql_range *range, mrd__sql_pieces *out)
{
    const mrd__store *store = sql->store;
    bool whole = !range->has_start && !range->has_end && !range->has_track;
    if (whole) mrd__sql_add_piece(out, INSTANT, 0, 0, store->instants.count);
    for (size_t i = 0; !whole && i < sql->instant_tracks.count; i++) {
        const mrd__track *track = &store->tracks[sql->instant_tracks.data[i]];
        if (range->has_track && sql->instant_tracks.data[i] != range->track) continue;
        mrd__sql_add_points(out, INSTANT, 0, store->instants.time, track->first,
                            track->first + track->count, store->origin_ns, range);
    }
    if (sql->events != NULL) event_pieces(sql, MRD__FORM_INSTANT, range, out);
}

static void all_pieces(const mrd__sql *sql, const mrd__sql_range *range, mrd__sql_pieces *out)
{
    bool whole = !range->has_start && !range->has_end && !range->has_track;
    slice_pieces(sql, range, whole, out);
    if (sql->events != NULL) event_pieces(sql, MRD__FORM_INTERVAL, range, out);
    instant_pieces(sql, range, out);
}

/* ---- Plain slices ---- */

static void flags_text(mrd__sql_out *out, size_t i, uint8_t flags)
{
    static const char *const names[] = {"unclosed", "left_truncated", "overlap", "negative_dur"};
    mrd__buf text = {0};
    if (flags == 0) {
        mrd__sql_put_text(out, i, MRD__STR(""));
        return;
    }
    for (size_t bit = 0; bit < sizeof names / sizeof names[0]; bit++) {
        if (flags >> bit & 1) mrd__buf_printf(&text, "%s%s", text.size ? "|" : "", names[bit]);
    }
    mrd__sql_put_copy(out, i, (mrd__str){text.data, text.size});
    mrd__buf_reset(&text);
}

static void plain_times(const mrd__sql *sql, uint64_t first, unsigned column, size_t rows,
                        mrd__sql_out *out)
{
    const mrd__store *store = sql->store;
    const double *start = store->slices.start + first;
    const double *end = store->slices.end + first;
    const uint8_t *flags = store->slices.flags + first;
    int64_t *data = (int64_t *)out->data + out->at;
    bool exact = store->exact_slices.count > 0;
    for (size_t i = 0; i < rows; i++) {
        int64_t from = exact ? mrd__store_slice_start(store, first + i)
                             : mrd__sql_time(store->origin_ns, start[i]);
        if (column == TS) {
            data[i] = from;
            continue;
        }
        int64_t to = exact ? mrd__store_slice_end(store, first + i)
                           : mrd__sql_time(store->origin_ns, end[i]);
        bool open = flags[i] & MRD__SLICE_UNCLOSED;
        data[i] = open ? -1 : (int64_t)((uint64_t)to - (uint64_t)from);
    }
}

/* What follows from the row a slice lies in. */
static void plain_row_column(const mrd__sql *sql, uint64_t first, unsigned column, size_t rows,
                             mrd__sql_out *out)
{
    const mrd__store *store = sql->store;
    uint32_t row = mrd__store_row_of(store, first);
    for (size_t i = 0; i < rows;) {
        while (store->rows.first[row + 1] <= first + i)
            row++;
        uint64_t end = store->rows.first[row + 1] - first;
        const mrd__row *info = &store->row_infos[row];
        int64_t value = column == TRACK_ID  ? sql->row_tracks[row]
                        : column == LANE_ID ? info->track
                        : column == DEPTH   ? info->depth
                                            : info->line;
        for (; i < rows && i < end; i++)
            mrd__sql_put_int(out, i, value);
    }
}

static void fill_plain(const mrd__sql *sql, uint64_t first, unsigned column, size_t rows,
                       mrd__sql_out *out)
{
    const mrd__slices *slices = &sql->store->slices;
    switch (column) {
    case TS:
    case DUR:
        plain_times(sql, first, column, rows, out);
        return;
    case NAME:
        mrd__sql_put_words(out, sql->store, &sql->names, slices->name + first, rows);
        return;
    case CATEGORY:
    case CAT:
        mrd__sql_put_words(out, sql->store, &sql->categories, slices->category + first, rows);
        return;
    case PARENT_ID:
        for (size_t i = 0; i < rows; i++)
            mrd__sql_put_index(out, i, slices->parent[first + i]);
        return;
    case ARG_SET_ID:
        for (size_t i = 0; i < rows; i++) {
            mrd__sql_put_int(out, i, (int64_t)(first + i));
            if (slices->args[first + i] == 0) mrd__sql_put_null(out, i);
        }
        return;
    case FLAGS:
        for (size_t i = 0; i < rows; i++)
            flags_text(out, i, slices->flags[first + i]);
        return;
    case RANK:
        for (size_t i = 0; i < rows; i++)
            mrd__sql_put_int(out, i, slices->order[first + i]);
        return;
    case STANDS_BEFORE:
        for (size_t i = 0; i < rows; i++)
            mrd__sql_put_bool(out, i, mrd__store_stands_before(sql->store, first + i));
        return;
    default:
        plain_row_column(sql, first, column, rows, out);
    }
}

/* ---- The rest ---- */

static void fill_interval(const mrd__sql *sql, const mrd__sql_piece *piece, unsigned column,
                          size_t rows, mrd__sql_out *out)
{
    const mrd__events *events = sql->events;
    const mrd__rows *intervals = &events->intervals;
    uint64_t last = intervals->first[piece->row + 1] - 1;
    bool unclosed = events->interval_unclosed[piece->row];
    for (size_t i = 0; i < rows; i++) {
        uint64_t at = piece->first + i;
        bool open = unclosed && at == last;
        int64_t from = mrd__sql_event_time(intervals->start[at]);
        if (column == TS)
            mrd__sql_put_int(out, i, from);
        else if (column == DUR)
            mrd__sql_put_int(out, i, open ? -1 : mrd__sql_event_time(intervals->end[at]) - from);
        else
            flags_text(out, i, open ? MRD__SLICE_UNCLOSED : 0);
    }
}

static void fill_interval_column(const mrd__sql *sql, const mrd__sql_piece *piece, unsigned column,
                                 size_t rows, mrd__sql_out *out)
{
    uint32_t key = sql->interval_keys[piece->row];
    switch (column) {
    case TS:
    case DUR:
    case FLAGS:
        fill_interval(sql, piece, column, rows, out);
        return;
    case NAME:
        mrd__sql_put_category(out, sql, &sql->names, sql->events->keys[key].category, rows);
        return;
    case TRACK_ID:
    case LANE_ID:
        mrd__sql_put_number(out, rows, sql->event_tracks[key]);
        return;
    case DEPTH:
    case LINE:
        mrd__sql_put_number(out, rows, 0);
        return;
    default:
        mrd__sql_put_nulls(out, rows);
    }
}

static void fill_instant(const mrd__sql *sql, uint64_t first, unsigned column, size_t rows,
                         mrd__sql_out *out)
{
    const mrd__store *store = sql->store;
    const mrd__instants *instants = &store->instants;
    switch (column) {
    case TS:
        for (size_t i = 0; i < rows; i++)
            mrd__sql_put_int(out, i, mrd__store_instant_time(store, first + i));
        return;
    case NAME:
        mrd__sql_put_words(out, store, &sql->names, instants->name + first, rows);
        return;
    case CATEGORY:
    case CAT:
        mrd__sql_put_words(out, store, &sql->categories, instants->category + first, rows);
        return;
    case TRACK_ID:
    case LANE_ID:
        mrd__sql_put_tracks(out, sql->store, sql->instant_tracks.data, sql->instant_tracks.count,
                            first, rows);
        return;
    case DUR:
    case DEPTH:
    case LINE:
        mrd__sql_put_number(out, rows, 0);
        return;
    case RANK:
        for (size_t i = 0; i < rows; i++)
            mrd__sql_put_int(out, i, instants->order[first + i]);
        return;
    case ARG_SET_ID:
        for (size_t i = 0; i < rows; i++) {
            mrd__sql_put_int(out, i, (int64_t)(sql->first_instant + first + i));
            if (instants->args[first + i] == 0) mrd__sql_put_null(out, i);
        }
        return;
    default:
        mrd__sql_put_nulls(out, rows);
    }
}

static void fill_event_instant(const mrd__sql *sql, const mrd__sql_piece *piece, unsigned column,
                               size_t rows, mrd__sql_out *out)
{
    const mrd__events *events = sql->events;
    mrd__str detail;
    switch (column) {
    case TS:
        for (size_t i = 0; i < rows; i++)
            mrd__sql_put_int(out, i, mrd__sql_event_time(events->time[piece->first + i]));
        return;
    case NAME:
        mrd__sql_put_category(out, sql, &sql->names, events->keys[piece->row].category, rows);
        return;
    case TRACK_ID:
    case LANE_ID:
        mrd__sql_put_number(out, rows, sql->event_tracks[piece->row]);
        return;
    case DUR:
    case DEPTH:
    case LINE:
        mrd__sql_put_number(out, rows, 0);
        return;
    case ARG_SET_ID:
        for (size_t i = 0; i < rows; i++) {
            uint64_t at = piece->first + i;
            mrd__sql_put_int(out, i, (int64_t)(sql->first_event_instant + at));
            if (!mrd__event_detail(events, mrd__event_rank(events, at), &detail))
                mrd__sql_put_null(out, i);
        }
        return;
    default:
        mrd__sql_put_nulls(out, rows);
    }
}

static void fill(const mrd__sql *sql, const mrd__sql_piece *piece, unsigned column, size_t rows,
                 mrd__sql_out *out)
{
    const uint64_t bases[] = {0, sql->first_interval, sql->first_instant, sql->first_event_instant};
    if (column >= FIRST_NULL) {
        mrd__sql_put_nulls(out, rows);
    } else if (column == ID || column == SLICE_ID) {
        for (size_t i = 0; i < rows; i++)
            mrd__sql_put_int(out, i, (int64_t)(bases[piece->kind] + piece->first + i));
    } else if (piece->kind == PLAIN) {
        fill_plain(sql, piece->first, column, rows, out);
    } else if (piece->kind == INTERVAL) {
        fill_interval_column(sql, piece, column, rows, out);
    } else if (piece->kind == INSTANT) {
        fill_instant(sql, piece->first, column, rows, out);
    } else {
        fill_event_instant(sql, piece, column, rows, out);
    }
}

const mrd__sql_table mrd__sql_slice = {.name = "slice",
                                       .columns = columns,
                                       .width = sizeof columns / sizeof columns[0],
                                       .ranged = true,
                                       .pieces = all_pieces,
                                       .fill = fill};

const mrd__sql_table mrd__sql_instant = {.name = "instant",
                                         .columns = columns,
                                         .width = sizeof columns / sizeof columns[0],
                                         .ranged = true,
                                         .pieces = instant_pieces,
                                         .fill = fill};
