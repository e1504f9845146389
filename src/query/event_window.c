/* The window query over event records (spec event-trace sections 3 and 5): what is asked, and what
 * goes with every answer: snapshot, anomalies, bounds. */
#include "query/event_window.h"

#include "base/assert.h"
#include "query/event_search.h"
#include "query/query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Parameters ---- */

static mrd_status read_times(mrd__event_window *window, const mrd_params *params, mrd_error *error)
{
    const mrd__events *events = window->events;
    bool start_set = false, end_set = false;
    MRD__TRY(mrd__params_double(params, "start_ns", &start_set, &window->start, error));
    MRD__TRY(mrd__params_double(params, "end_ns", &end_set, &window->end, error));
    double start = events->start_ns, end = events->end_ns;
    window->end_inside = !end_set;
    if (!(start < end)) { /* all at one time: one ns, or the next double far out */
        end = start + 1 > start ? start + 1 : nextafter(start, INFINITY);
        window->end_inside = false;
    }
    if (!start_set) window->start = start;
    if (!end_set) window->end = end;
    if (window->start < window->end) return MRD_OK;
    mrd__buf text = {0};
    mrd__buf_text(&text, "start_ns ");
    mrd__buf_double(&text, window->start);
    mrd__buf_text(&text, " is not below end_ns ");
    mrd__buf_double(&text, window->end);
    mrd_status status = mrd__fail(error, MRD_ERR_ARGUMENT, "bad_window",
                                  "%s; a start below the end is allowed", text.data);
    mrd__buf_reset(&text);
    return status;
}

static mrd_status read_extra(mrd__event_window *window, const mrd_params *params, mrd_error *error)
{
    bool set = false;
    mrd__str extra;
    MRD__TRY(mrd__params_text(params, "extra", &set, &extra, error));
    if (!set) return MRD_OK;
    window->minmax = true;
    if (mrd__str_is(extra, "minmax")) return MRD_OK;
    mrd__param_shown shown;
    return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                     "extra: \"%s\" is unknown; minmax is allowed", mrd__param_show(&shown, extra));
}

/* Which categories are named: a bit each. */
static mrd_status read_categories(const mrd__event_window *window, const mrd_params *params,
                                  uint32_t *mask, mrd_error *error)
{
    bool set = false;
    mrd__str_list parts = {0};
    MRD__TRY(mrd__params_list(params, "categories", &set, &parts, error));
    *mask = set ? 0 : (1u << MRD__CAT_COUNT) - 1;
    mrd_status status = MRD_OK;
    for (size_t i = 0; status == MRD_OK && i < parts.count; i++) {
        int found = -1;
        for (int category = 0; category < MRD__CAT_COUNT; category++) {
            if (mrd__str_is(parts.data[i], window->events->category_names[category]))
                found = category;
        }
        if (found >= 0) {
            *mask |= 1u << found;
            continue;
        }
        mrd__param_shown shown;
        status = mrd__fail(error, MRD_ERR_ARGUMENT, "bad_category",
                           "categories: \"%s\" is unknown; allowed are link_busy, link_idle, "
                           "thread_blocked, thread_unblocked, ostd_change, hop_arrive",
                           mrd__param_show(&shown, parts.data[i]));
    }
    mrd__str_list_reset(&parts);
    return status;
}

static int compare_indices(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static void choose_key(mrd__event_window *window, uint32_t key, uint32_t mask, double stop)
{
    const mrd__event_key *info = &window->events->keys[key];
    bool opener = mask >> info->category & 1, closer = mask >> info->closer & 1;
    if (!opener && !closer) return;
    mrd__event_choice choice = {
        .key = key,
        .low = mrd__event_lower(window->events, key, window->start),
        .high = mrd__event_lower(window->events, key, stop),
        .opener = opener,
        .closer = closer,
    };
    mrd__vec_push(&window->choices, choice);
}

static mrd_status choose_keys(mrd__event_window *window, const mrd_params *params, uint32_t mask,
                              mrd_error *error)
{
    const mrd__events *events = window->events;
    bool set = false;
    mrd__str_list parts = {0};
    MRD__TRY(mrd__params_list(params, "components", &set, &parts, error));
    double stop = window->end_inside ? nextafter(window->end, INFINITY) : window->end;
    if (!set) {
        for (size_t k = 0; k < events->key_count; k++)
            choose_key(window, (uint32_t)k, mask, stop);
        return MRD_OK;
    }
    uint32_t *indices = mrd__alloc((parts.count + 1) * sizeof *indices);
    for (size_t i = 0; i < parts.count; i++)
        indices[i] = mrd__events_component(events, parts.data[i]);
    qsort(indices, parts.count, sizeof *indices, compare_indices);
    for (size_t i = 0; i < parts.count && indices[i] != UINT32_MAX; i++) {
        if (i && indices[i] == indices[i - 1]) continue;
        for (uint32_t k = events->component_keys[indices[i]];
             k < events->component_keys[indices[i] + 1]; k++)
            choose_key(window, k, mask, stop);
    }
    mrd__free(indices);
    mrd__str_list_reset(&parts);
    return MRD_OK;
}

static mrd_status read_params(mrd__event_window *window, const mrd_params *params, mrd_error *error)
{
    static const char *const allowed[] = {"start_ns", "end_ns", "components", "categories",
                                          "buckets",  "extra",  NULL};
    bool aggregated = false;
    uint32_t mask = 0;
    MRD__TRY(mrd__params_only(params, allowed, error));
    MRD__TRY(read_times(window, params, error));
    MRD__TRY(mrd__params_buckets(params, &aggregated, &window->buckets, error));
    MRD__TRY(read_extra(window, params, error));
    MRD__TRY(read_categories(window, params, &mask, error));
    return choose_keys(window, params, mask, error);
}

/* ---- What goes with every answer ---- */

static void add_track(mrd__buf *out, const mrd__events *events, const mrd__event_key *key)
{
    if (out->data[out->size - 1] != '[') mrd__buf_char(out, ',');
    mrd__buf_text(out, "{\"component\":");
    mrd__buf_json_string(out, events->components[key->component]);
    mrd__buf_printf(out, ",\"category\":\"%s\",", events->category_names[key->category]);
}

static void write_snapshot(mrd__event_window *window)
{
    const mrd__events *events = window->events;
    mrd__buf *out = &window->snapshot;
    mrd__buf_text(out, "{\"window_start_ns\":");
    mrd__buf_json_double(out, window->start);
    mrd__buf_text(out, ",\"open_intervals\":[");
    for (size_t i = 0; i < window->choices.count; i++) {
        const mrd__event_choice *choice = &window->choices.data[i];
        const mrd__event_key *key = &events->keys[choice->key];
        if (key->form != MRD__FORM_INTERVAL) continue;
        if (!mrd__event_open(events, choice->key, choice->low)) continue;
        /* The open one is the last that began before the window. */
        uint64_t next = mrd__rows_lower(&events->intervals, key->row, window->start);
        mrd__assert(next > events->intervals.first[key->row]);
        add_track(out, events, key);
        mrd__buf_text(out, "\"since_ns\":");
        mrd__buf_json_double(out, events->intervals.start[next - 1]);
        mrd__buf_char(out, '}');
    }
    mrd__buf_text(out, "]}");
}

static void write_anomalies(mrd__event_window *window)
{
    mrd__buf *out = &window->anomalies;
    mrd__buf_char(out, '[');
    for (size_t i = 0; i < window->choices.count; i++) {
        const mrd__event_key *key = &window->events->keys[window->choices.data[i].key];
        if (key->anomaly_count == 0) continue;
        add_track(out, window->events, key);
        mrd__buf_text(out, "\"count\":");
        mrd__buf_uint(out, key->anomaly_count);
        mrd__buf_text(out, ",\"first_ns\":");
        mrd__buf_json_double(out, key->anomaly_first_ns);
        mrd__buf_char(out, '}');
    }
    mrd__buf_char(out, ']');
}

static void write_bounds(mrd__event_window *window)
{
    mrd__buf *out = &window->bounds;
    mrd__buf_text(out, "{\"start_ns\":");
    mrd__buf_json_double(out, window->events->start_ns);
    mrd__buf_text(out, ",\"end_ns\":");
    mrd__buf_json_double(out, window->events->end_ns);
    mrd__buf_text(out, ",\"events\":");
    mrd__buf_uint(out, window->events->count);
    mrd__buf_char(out, '}');
}

void mrd__event_window_table(const mrd__event_window *window, mrd__table *table,
                             const mrd__arrow_field *fields, size_t field_count,
                             const mrd_sink *sink)
{
    mrd__arrow_kv metadata[] = {
        {"trace_snapshot", {window->snapshot.data, window->snapshot.size}},
        {"trace_anomalies", {window->anomalies.data, window->anomalies.size}},
        {"trace_bounds", {window->bounds.data, window->bounds.size}},
    };
    mrd__buf head = {0};
    mrd__buf_printf(&head, "\"mode\":\"%s\",\"snapshot\":", window->buckets ? "aggregated" : "raw");
    mrd__buf_add(&head, window->snapshot.data, window->snapshot.size);
    mrd__buf_text(&head, ",\n\"anomalies\":");
    mrd__buf_add(&head, window->anomalies.data, window->anomalies.size);
    mrd__buf_text(&head, ",\n\"bounds\":");
    mrd__buf_add(&head, window->bounds.data, window->bounds.size);
    mrd__buf_text(&head, ",\n");
    mrd__table_init(table, window->format, fields, field_count, metadata,
                    sizeof metadata / sizeof *metadata, head.data, sink);
    mrd__buf_reset(&head);
}

/* ---- Names ---- */

int32_t mrd__event_names_add(mrd__event_names *names, uint32_t component)
{
    if (names->used.count == 0 || names->used.data[names->used.count - 1] != component)
        mrd__vec_push(&names->used, component);
    return (int32_t)names->used.count - 1;
}

static mrd__str component_word(const void *ctx, size_t index)
{
    const mrd__event_names *names = ctx;
    return names->events->components[names->used.data[index]];
}

mrd__arrow_dict mrd__event_names_dict(const mrd__event_names *names)
{
    return (mrd__arrow_dict){.count = names->used.count, .get = component_word, .ctx = names};
}

static mrd__str category_word(const void *ctx, size_t index)
{
    return mrd__str_of(((const mrd__events *)ctx)->category_names[index]);
}

mrd__arrow_dict mrd__event_categories_dict(const mrd__events *events)
{
    return (mrd__arrow_dict){.count = MRD__CAT_COUNT, .get = category_word, .ctx = events};
}

/* ---- The door ---- */

static void reset(mrd__event_window *window)
{
    mrd__vec_reset(&window->choices);
    mrd__buf_reset(&window->snapshot);
    mrd__buf_reset(&window->anomalies);
    mrd__buf_reset(&window->bounds);
}

mrd_status mrd__query_event_window(const mrd__store *store, const mrd_params *params,
                                   mrd_format format, const mrd_sink *sink, mrd_error *error)
{
    if (!store->events) {
        return mrd__fail(error, MRD_ERR_FORMAT, "bad_trace",
                         "the trace holds no event records; ask its tracks instead");
    }
    mrd__event_window window = {.events = store->events, .format = format};
    mrd_status status = read_params(&window, params, error);
    if (status == MRD_OK) {
        write_snapshot(&window);
        write_anomalies(&window);
        write_bounds(&window);
        status = window.buckets ? mrd__event_window_cells(&window, sink, error)
                                : mrd__event_window_raw(&window, sink, error);
    }
    reset(&window);
    return status;
}
