/* `counter`: samples of counters and of event records; `event`: the records as they are. */
#include "sql/table.h"

enum {
    PLAIN,
    EVENT
};

/* ---- counter ---- */

enum {
    COUNTER_ID,
    COUNTER_TS,
    COUNTER_TRACK,
    COUNTER_VALUE,
    COUNTER_ARGS
};

static const mrd__sql_column counter_columns[] = {
    {"id", MRD__SQL_INT},     {"ts", MRD__SQL_INT},         {"track_id", MRD__SQL_INT},
    {"value", MRD__SQL_REAL}, {"arg_set_id", MRD__SQL_INT},
};

static void counter_pieces(const mrd__sql *sql, const mrd__sql_range *range, mrd__sql_pieces *out)
{
    const mrd__store *store = sql->store;
    bool whole = !range->has_start && !range->has_end && !range->has_track;
    if (whole) mrd__sql_add_piece(out, PLAIN, 0, 0, store->counters.count);
    for (size_t i = 0; !whole && i < sql->counter_tracks.count; i++) {
        const mrd__track *track = &store->tracks[sql->counter_tracks.data[i]];
        if (range->has_track && sql->counter_tracks.data[i] != range->track) continue;
        mrd__sql_add_points(out, PLAIN, 0, store->counters.time, track->first,
                            track->first + track->count, store->origin_ns, range);
    }
    for (uint32_t k = 0; sql->events != NULL && k < sql->events->key_count; k++) {
        const mrd__event_key *key = &sql->events->keys[k];
        if (key->form != MRD__FORM_COUNTER) continue;
        if (range->has_track && sql->event_tracks[k] != range->track) continue;
        mrd__sql_add_points(out, EVENT, k, sql->events->time, key->first, key->first + key->count,
                            0, range);
    }
}

static void fill_event_counter(const mrd__sql *sql, const mrd__sql_piece *piece, unsigned column,
                               size_t rows, mrd__sql_out *out)
{
    const mrd__events *events = sql->events;
    for (size_t i = 0; i < rows; i++) {
        uint64_t at = piece->first + i;
        if (column == COUNTER_ID)
            mrd__sql_put_int(out, i, (int64_t)(sql->store->counters.count + at));
        else if (column == COUNTER_TS)
            mrd__sql_put_int(out, i, mrd__sql_event_time(events->time[at]));
        else if (column == COUNTER_TRACK)
            mrd__sql_put_index(out, i, sql->event_tracks[piece->row]);
        else
            mrd__sql_put_real(out, i, events->value[at]);
    }
}

static void fill_counter(const mrd__sql *sql, const mrd__sql_piece *piece, unsigned column,
                         size_t rows, mrd__sql_out *out)
{
    const mrd__store *store = sql->store;
    uint64_t first = piece->first;
    if (column == COUNTER_ARGS) {
        mrd__sql_put_nulls(out, rows);
    } else if (piece->kind == EVENT) {
        fill_event_counter(sql, piece, column, rows, out);
    } else if (column == COUNTER_TRACK) {
        mrd__sql_put_tracks(out, store, sql->counter_tracks.data, sql->counter_tracks.count, first,
                            rows);
    } else if (column == COUNTER_ID) {
        for (size_t i = 0; i < rows; i++)
            mrd__sql_put_int(out, i, (int64_t)(first + i));
    } else if (column == COUNTER_VALUE) {
        for (size_t i = 0; i < rows; i++)
            mrd__sql_put_real(out, i, store->counters.value[first + i]);
    } else if (store->exact_counters.count > 0) {
        for (size_t i = 0; i < rows; i++)
            mrd__sql_put_int(out, i, mrd__store_counter_time(store, first + i));
    } else {
        for (size_t i = 0; i < rows; i++)
            mrd__sql_put_int(out, i,
                             mrd__sql_time(store->origin_ns, store->counters.time[first + i]));
    }
}

const mrd__sql_table mrd__sql_counter = {.name = "counter",
                                         .columns = counter_columns,
                                         .width =
                                             sizeof counter_columns / sizeof counter_columns[0],
                                         .ranged = true,
                                         .pieces = counter_pieces,
                                         .fill = fill_counter};

/* ---- event ---- */

enum {
    EVENT_ID,
    EVENT_TIME,
    EVENT_CATEGORY,
    EVENT_COMPONENT,
    EVENT_VALUE,
    EVENT_DETAIL,
    EVENT_TRACK
};

static const mrd__sql_column event_columns[] = {
    {"id", MRD__SQL_INT},         {"time_ns", MRD__SQL_REAL}, {"category", MRD__SQL_TEXT},
    {"component", MRD__SQL_TEXT}, {"value", MRD__SQL_REAL},   {"detail_json", MRD__SQL_TEXT},
    {"track_id", MRD__SQL_INT},
};

static void event_pieces(const mrd__sql *sql, const mrd__sql_range *range, mrd__sql_pieces *out)
{
    for (uint32_t k = 0; sql->events != NULL && k < sql->events->key_count; k++) {
        const mrd__event_key *key = &sql->events->keys[k];
        if (range->has_track && sql->event_tracks[k] != range->track) continue;
        mrd__sql_add_points(out, 0, k, sql->events->time, key->first, key->first + key->count, 0,
                            range);
    }
}

static void fill_event(const mrd__sql *sql, const mrd__sql_piece *piece, unsigned column,
                       size_t rows, mrd__sql_out *out)
{
    const mrd__events *events = sql->events;
    const mrd__event_key *key = &events->keys[piece->row];
    mrd__str detail;
    for (size_t i = 0; i < rows; i++) {
        uint64_t at = piece->first + i;
        switch (column) {
        case EVENT_ID: /* its place in the file by time */
            mrd__sql_put_int(out, i, mrd__event_rank(events, at));
            break;
        case EVENT_TIME:
            mrd__sql_put_real(out, i, events->time[at]);
            break;
        case EVENT_CATEGORY:
            mrd__sql_put_text(
                out, i, mrd__str_of(events->category_names[mrd__event_category(events, key, at)]));
            break;
        case EVENT_COMPONENT:
            mrd__sql_put_text(out, i, events->components[key->component]);
            break;
        case EVENT_VALUE:
            mrd__sql_put_real(out, i, events->value[at]);
            break;
        case EVENT_DETAIL:
            if (mrd__event_detail(events, mrd__event_rank(events, at), &detail))
                mrd__sql_put_text(out, i, detail);
            else
                mrd__sql_put_null(out, i);
            break;
        default:
            mrd__sql_put_index(out, i, sql->event_tracks[piece->row]);
        }
    }
}

const mrd__sql_table mrd__sql_event = {.name = "event",
                                       .columns = event_columns,
                                       .width = sizeof event_columns / sizeof event_columns[0],
                                       .ranged = true,
                                       .pieces = event_pieces,
                                       .fill = fill_event};
