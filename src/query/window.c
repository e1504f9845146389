#include "query/window.h"

#include "base/assert.h"
#include "query/query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool mrd__window_is_plain(const mrd__track *track)
{
    return track->event_key == MRD__NONE && track->kind != MRD__TRACK_INTERVAL;
}

bool mrd__window_prints_absolute(const mrd__window *window)
{
    return window->absolute && window->format != MRD_FORMAT_ARROW;
}

/* ---- Tracks ---- */

static int compare_ids(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a;
    uint32_t right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static void add_track(mrd__window *window, uint64_t id)
{
    const mrd__store *store = window->store;
    if (id < store->track_count && mrd__window_is_plain(&store->tracks[id]))
        mrd__vec_push(&window->tracks, (uint32_t)id);
}

static mrd_status choose_tracks(mrd__window *window, const mrd_params *params, mrd_error *error)
{
    mrd__str_list parts;
    bool set = false;
    MRD__TRY(mrd__params_list(params, "tracks", &set, &parts, error));
    mrd_status status = MRD_OK;
    for (size_t i = 0; i < parts.count && status == MRD_OK; i++) {
        uint64_t id = 0;
        mrd__param_shown shown;
        if (mrd__parse_uint64(parts.data[i], &id))
            add_track(window, id);
        else
            status = mrd__fail(error, MRD_ERR_ARGUMENT, "bad_number",
                               "tracks: \"%s\" is not a track id; whole numbers are allowed",
                               mrd__param_show(&shown, parts.data[i]));
    }
    mrd__str_list_reset(&parts);
    if (status != MRD_OK) return status;
    for (uint64_t id = 0; !set && id < window->store->track_count; id++)
        add_track(window, id);
    if (window->tracks.count == 0) return MRD_OK;
    qsort(window->tracks.data, window->tracks.count, sizeof(uint32_t), compare_ids);
    size_t kept = 1;
    for (size_t i = 1; i < window->tracks.count; i++) {
        if (window->tracks.data[i] != window->tracks.data[kept - 1])
            window->tracks.data[kept++] = window->tracks.data[i];
    }
    window->tracks.count = kept;
    return MRD_OK;
}

/* ---- Times ---- */

static double relative(const mrd__store *store, int64_t absolute)
{
    return (double)((__int128)absolute - store->origin_ns);
}

static void fill_defaults(mrd__window *window, bool start_set, bool end_set)
{
    const mrd__store *store = window->store;
    double start = store->empty ? 0 : relative(store, store->start_ns);
    double end = store->empty ? 0 : relative(store, store->end_ns);
    window->end_inside = !end_set;
    if (end <= start) { /* all at one time (or nothing): one ns, or the next double far out */
        end = start + 1 > start ? start + 1 : nextafter(start, INFINITY);
        window->end_inside = false;
    }
    if (!start_set) window->start = start;
    if (!end_set) window->end = end;
}

static mrd_status read_absolute(mrd__window *window, const mrd_params *params, mrd_error *error)
{
    int64_t start = 0;
    int64_t end = 0;
    bool start_set = false;
    bool end_set = false;
    MRD__TRY(mrd__params_int64(params, "start_ns", &start_set, &start, error));
    MRD__TRY(mrd__params_int64(params, "end_ns", &end_set, &end, error));
    if (start_set) window->start = relative(window->store, start);
    if (end_set) window->end = relative(window->store, end);
    /* Far from the origin neighbouring integers may share a double. */
    if (start_set && end_set && start < end && window->end <= window->start)
        window->end = nextafter(window->start, INFINITY);
    fill_defaults(window, start_set, end_set);
    return MRD_OK;
}

static mrd_status read_relative(mrd__window *window, const mrd_params *params, mrd_error *error)
{
    bool start_set = false;
    bool end_set = false;
    MRD__TRY(mrd__params_double(params, "start_ns", &start_set, &window->start, error));
    MRD__TRY(mrd__params_double(params, "end_ns", &end_set, &window->end, error));
    fill_defaults(window, start_set, end_set);
    return MRD_OK;
}

static mrd_status check_times(const mrd__window *window, mrd_error *error)
{
    if (window->start < window->end) return MRD_OK;
    mrd__buf text = {0};
    mrd__buf_text(&text, "start_ns ");
    if (window->absolute)
        mrd__buf_int(&text, mrd__store_absolute(window->store, window->start));
    else
        mrd__buf_double(&text, window->start);
    mrd__buf_text(&text, " is not below end_ns ");
    if (window->absolute)
        mrd__buf_int(&text, mrd__store_absolute(window->store, window->end));
    else
        mrd__buf_double(&text, window->end);
    mrd_status status = mrd__fail(error, MRD_ERR_ARGUMENT, "bad_window",
                                  "%s; a start below the end is allowed", text.data);
    mrd__buf_reset(&text);
    return status;
}

mrd_status mrd__window_init(mrd__window *window, const mrd__store *store, const mrd_params *params,
                            bool absolute, mrd_format format, mrd_error *error)
{
    static const char *const allowed[] = {"tracks", "start_ns", "end_ns", "buckets", NULL};
    *window = (mrd__window){.store = store, .absolute = absolute, .format = format};
    bool aggregated = false;
    MRD__TRY(mrd__params_only(params, allowed, error));
    MRD__TRY(choose_tracks(window, params, error));
    MRD__TRY(absolute ? read_absolute(window, params, error)
                      : read_relative(window, params, error));
    MRD__TRY(mrd__params_buckets(params, &aggregated, &window->buckets, error));
    return check_times(window, error);
}

void mrd__window_reset(mrd__window *window)
{
    mrd__vec_reset(&window->tracks);
}

mrd_status mrd__query_window(const mrd__store *store, const mrd_params *params, bool absolute,
                             mrd_format format, const mrd_sink *sink, mrd_error *error)
{
    mrd__assert(format != MRD_FORMAT_TEXT);
    mrd__window window;
    mrd_status status = mrd__window_init(&window, store, params, absolute, format, error);
    if (status == MRD_OK)
        status = window.buckets > 0 ? mrd__window_cells(&window, sink, error)
                                    : mrd__window_raw(&window, sink, error);
    mrd__window_reset(&window);
    return status;
}

/* ---- What stands before the rows ---- */

/* {"start_ns": ..., "end_ns": ..., "events": n}: null times for an empty trace. */
static void add_bounds(const mrd__window *window, mrd__buf *out)
{
    const mrd__store *store = window->store;
    const int64_t bounds[2] = {store->start_ns, store->end_ns};
    static const char *const names[2] = {"{\"start_ns\":", ",\"end_ns\":"};
    for (int i = 0; i < 2; i++) {
        mrd__buf_text(out, names[i]);
        if (store->empty)
            mrd__buf_text(out, "null");
        else if (mrd__window_prints_absolute(window))
            mrd__buf_int(out, bounds[i]);
        else
            mrd__buf_double(out, relative(store, bounds[i]));
    }
    mrd__buf_text(out, ",\"events\":");
    mrd__buf_uint(out, store->slices.count + store->instants.count + store->counters.count);
    mrd__buf_char(out, '}');
}

void mrd__window_table(const mrd__window *window, mrd__table *table, const mrd__arrow_field *fields,
                       size_t field_count, const mrd_sink *sink)
{
    mrd__buf origin = {0};
    mrd__buf bounds = {0};
    mrd__buf head = {0};
    mrd__buf_int(&origin, window->store->origin_ns);
    add_bounds(window, &bounds);
    mrd__buf_printf(&head, "\"mode\":\"%s\",", window->buckets > 0 ? "aggregated" : "raw");
    if (!mrd__window_prints_absolute(window))
        mrd__buf_printf(&head, "\"origin_ns\":\"%s\",", origin.data);
    mrd__buf_printf(&head, "\"bounds\":%s,", bounds.data);
    const mrd__arrow_kv metadata[] = {
        {"trace_origin_ns", {origin.data, origin.size}},
        {"trace_bounds", {bounds.data, bounds.size}},
    };
    mrd__table_init(table, window->format, fields, field_count, metadata, 2, head.data, sink);
    mrd__buf_reset(&origin);
    mrd__buf_reset(&bounds);
    mrd__buf_reset(&head);
}
