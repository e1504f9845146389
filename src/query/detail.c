/* Everything about one slice or instant, as one JSON object. Also intervals of event records, under
 * the ids that `dump --table slice` gives them (after those of the plain slices). */
#include "query/query.h"

#include "model/events.h"
#include "query/args_json.h"
#include "query/ident.h"

#include <inttypes.h>

/* Flows shown of one slice in each direction: what a pane can list; the count tells the rest. */
#define MAX_FLOWS 1000

typedef struct detail {
    const mrd__store *store;
    const mrd__track *track;
    uint32_t track_id;
    uint64_t id;
    mrd__buf out, scratch;
} detail;

/* ---- Members ---- */

static void add_name(detail *d, const char *member, mrd__str_id text)
{
    mrd__buf_printf(&d->out, ",\"%s\":", member);
    if (text != 0)
        mrd__buf_json_string(&d->out, mrd__store_str(d->store, text));
    else
        mrd__buf_text(&d->out, "null");
}

static void add_index(detail *d, const char *member, uint32_t index)
{
    if (index == MRD__NONE)
        mrd__buf_printf(&d->out, ",\"%s\":null", member);
    else
        mrd__buf_printf(&d->out, ",\"%s\":%u", member, index);
}

static void add_head(detail *d, mrd__str name, mrd__str category)
{
    mrd__buf_printf(&d->out, "{\"id\":%" PRIu64 ",\"track\":%u,\"name\":", d->id, d->track_id);
    mrd__buf_json_string(&d->out, name);
    mrd__buf_text(&d->out, ",\"category\":");
    mrd__buf_json_string(&d->out, category);
}

/* length: exact ns, or -1 for an open slice. */
static void add_times(detail *d, int64_t start_ns, double start, bool open, uint64_t length)
{
    mrd__buf_printf(&d->out, ",\"ts_ns\":\"%" PRId64 "\",\"start_ns\":", start_ns);
    mrd__buf_json_double(&d->out, start);
    if (open)
        mrd__buf_text(&d->out, ",\"dur_ns\":\"-1\"");
    else
        mrd__buf_printf(&d->out, ",\"dur_ns\":\"%" PRIu64 "\"", length);
}

static void add_owner(detail *d)
{
    const mrd__store *store = d->store;
    const mrd__track *track = d->track;
    mrd__ident none = {0};
    bool process = track->process != MRD__NONE;
    bool thread = track->thread != MRD__NONE;
    mrd__buf_text(&d->out, ",\"pid\":");
    mrd__ident_json(&d->out, store, process ? store->processes[track->process].pid : none);
    mrd__buf_text(&d->out, ",\"tid\":");
    mrd__ident_json(&d->out, store, thread ? store->threads[track->thread].tid : none);
    add_name(d, "process", process ? store->processes[track->process].name : 0);
    add_name(d, "thread", thread ? store->threads[track->thread].name : 0);
}

static void add_flags(detail *d, uint8_t flags)
{
    static const char *const names[] = {"unclosed", "left_truncated", "overlap", "negative_dur"};
    const char *comma = "";
    mrd__buf_text(&d->out, ",\"flags\":[");
    for (size_t bit = 0; bit < sizeof names / sizeof names[0]; bit++) {
        if (!(flags >> bit & 1)) continue;
        mrd__buf_printf(&d->out, "%s\"%s\"", comma, names[bit]);
        comma = ",";
    }
    mrd__buf_char(&d->out, ']');
}

static mrd_status add_args(detail *d, mrd__args_ref ref, mrd_error *error)
{
    mrd__str text = MRD__STR("{}");
    if (ref != 0) MRD__TRY(mrd__store_args(d->store, ref, &d->scratch, &text, error));
    if (text.size == 0) text = MRD__STR("{}"); /* no object stands there (any more) */
    mrd__buf_text(&d->out, ",\"args\":");
    mrd__args_json(&d->out, text);
    return MRD_OK;
}

/* ---- Flows ---- */

/* First place of by_slice, sorted by the slice at that end, whose slice is not below id. */
static size_t flows_lower(const mrd__store *store, const uint32_t *by_slice, bool out, uint64_t id)
{
    size_t low = 0;
    size_t high = store->flow_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const mrd__flow *flow = &store->flows[by_slice[middle]];
        if ((out ? flow->from : flow->to) < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_flow(detail *d, const mrd__flow *flow, bool out, bool first)
{
    const mrd__store *store = d->store;
    uint32_t other = out ? flow->to : flow->from;
    mrd__buf_printf(&d->out, "%s{\"direction\":\"%s\"", first ? "" : ",", out ? "out" : "in");
    add_name(d, "category", flow->category);
    add_name(d, "name", flow->name);
    add_name(d, "id", flow->id);
    add_index(d, "slice", other);
    if (other != MRD__NONE) {
        const mrd__row *row = &store->row_infos[mrd__store_row_of(store, other)];
        const mrd__track *track = &store->tracks[row->track];
        add_index(d, "track", row->track);
        add_index(d, "row", row->line);
        add_name(d, "slice_name", store->slices.name[other]);
        add_name(d, "process",
                 track->process != MRD__NONE ? store->processes[track->process].name : 0);
        add_name(d, "thread", track->thread != MRD__NONE ? store->threads[track->thread].name : 0);
        mrd__buf_printf(&d->out, ",\"ts_ns\":\"%" PRId64 "\",\"start_ns\":",
                        mrd__store_slice_start(store, other));
        mrd__buf_json_double(&d->out, store->slices.start[other]);
        mrd__buf_text(&d->out, ",\"end_ns\":");
        mrd__buf_json_double(&d->out, store->slices.end[other]);
    }
    mrd__buf_char(&d->out, '}');
}

static void add_flows(detail *d)
{
    const mrd__store *store = d->store;
    size_t total = 0;
    size_t written = 0;
    mrd__buf_text(&d->out, ",\"flows\":[");
    for (int out = 0; out < 2 && store->flow_count > 0; out++) {
        const uint32_t *by_slice = out ? store->flow_by_from : store->flow_by_to;
        size_t first = flows_lower(store, by_slice, out, d->id);
        size_t last = flows_lower(store, by_slice, out, d->id + 1);
        total += last - first;
        size_t stop = last - first < MAX_FLOWS ? last : first + MAX_FLOWS;
        for (size_t i = first; i < stop; i++)
            add_flow(d, &store->flows[by_slice[i]], out, written++ == 0);
    }
    mrd__buf_printf(&d->out, "],\"flow_count\":%zu", total);
}

/* ---- Own time ---- */

/* Covered time of the children that lie in one row, 0 when that row holds none of them. Inside a
 * parent's time all slices of a row one deeper have the same parent, but for zero-length ones at
 * its very start that may belong to the slice before. */
static double children_in_row(const mrd__store *store, uint32_t row, uint64_t id)
{
    double start = store->slices.start[id];
    double end = store->slices.end[id];
    uint64_t first = mrd__rows_lower(&store->rows, row, start);
    uint64_t last = mrd__rows_lower(&store->rows, row, end);
    uint64_t at = first;
    while (at < last && store->slices.end[at] == start)
        at++;
    if (at == last || store->slices.parent[at] != id) return 0;
    return mrd__rows_cover(&store->rows, row, start, end, first, last);
}

static void add_self(detail *d, uint32_t row_index)
{
    const mrd__store *store = d->store;
    uint16_t depth = store->row_infos[row_index].depth;
    double self = store->slices.end[d->id] - store->slices.start[d->id];
    for (uint32_t i = 0; i < d->track->row_count; i++) {
        uint32_t row = d->track->first_row + i;
        if (store->row_infos[row].depth == depth + 1) self -= children_in_row(store, row, d->id);
    }
    mrd__buf_text(&d->out, ",\"self_ns\":");
    if (store->slices.flags[d->id] & MRD__SLICE_UNCLOSED)
        mrd__buf_text(&d->out, "null");
    else
        mrd__buf_json_double(&d->out, self > 0 ? self : 0);
}

/* ---- Kinds ---- */

static mrd_status add_slice(detail *d, mrd_error *error)
{
    const mrd__store *store = d->store;
    const mrd__slices *slices = &store->slices;
    uint32_t row_index = mrd__store_row_of(store, d->id);
    const mrd__row *row = &store->row_infos[row_index];
    int64_t start = mrd__store_slice_start(store, d->id);
    uint64_t length = (uint64_t)mrd__store_slice_end(store, d->id) - (uint64_t)start;
    bool open = slices->flags[d->id] & MRD__SLICE_UNCLOSED;
    add_head(d, mrd__store_str(store, slices->name[d->id]),
             mrd__store_str(store, slices->category[d->id]));
    add_times(d, start, slices->start[d->id], open, length);
    add_index(d, "depth", row->depth);
    add_index(d, "row", row->line);
    add_index(d, "parent", slices->parent[d->id]);
    add_flags(d, slices->flags[d->id]);
    add_owner(d);
    MRD__TRY(add_args(d, slices->args[d->id], error));
    add_flows(d);
    add_self(d, row_index);
    return MRD_OK;
}

static mrd_status add_instant(detail *d, mrd_error *error)
{
    static const char *const scopes[] = {"thread", "process", "global"};
    const mrd__store *store = d->store;
    const mrd__instants *instants = &store->instants;
    add_head(d, mrd__store_str(store, instants->name[d->id]),
             mrd__store_str(store, instants->category[d->id]));
    add_times(d, mrd__store_instant_time(store, d->id), instants->time[d->id], false, 0);
    mrd__buf_text(&d->out, ",\"depth\":0,\"row\":0,\"parent\":null");
    add_flags(d, 0);
    add_owner(d);
    mrd__buf_printf(&d->out, ",\"scope\":\"%s\"", scopes[d->track->scope % 3]);
    MRD__TRY(add_args(d, instants->args[d->id], error));
    mrd__buf_text(&d->out, ",\"flows\":[],\"flow_count\":0,\"self_ns\":0");
    return MRD_OK;
}

/* An interval of event records: its times are the file's own doubles. */
static void add_interval(detail *d, const mrd__event_key *key)
{
    const mrd__events *events = d->store->events;
    uint64_t i = d->id - d->store->slices.count;
    bool last = i + 1 == events->intervals.first[key->row + 1];
    bool open = last && events->interval_unclosed[key->row];
    double start = events->intervals.start[i];
    double end = events->intervals.end[i];
    int64_t start_ns = mrd__store_absolute(d->store, start);
    add_head(d, mrd__str_of(events->category_names[key->category]), MRD__STR(""));
    add_times(d, start_ns, start, open,
              (uint64_t)mrd__store_absolute(d->store, end) - (uint64_t)start_ns);
    mrd__buf_text(&d->out, ",\"end_ns\":");
    mrd__buf_json_double(&d->out, end);
    mrd__buf_text(&d->out, ",\"component\":");
    mrd__buf_json_string(&d->out, events->components[key->component]);
    mrd__buf_text(&d->out, ",\"depth\":0,\"row\":0,\"parent\":null");
    add_flags(d, open ? MRD__SLICE_UNCLOSED : 0);
    add_owner(d);
    mrd__buf_text(&d->out, ",\"args\":{},\"flows\":[],\"flow_count\":0,\"self_ns\":");
    if (open)
        mrd__buf_text(&d->out, "null");
    else
        mrd__buf_json_double(&d->out, end - start);
}

/* Whether the id lies in the track's columns. */
static bool has_id(const detail *d)
{
    const mrd__track *track = d->track;
    uint64_t first = track->first;
    uint64_t count = track->count;
    if (track->event_key != MRD__NONE) {
        const mrd__events *events = d->store->events;
        const mrd__event_key *key = &events->keys[track->event_key];
        if (key->form != MRD__FORM_INTERVAL) return false;
        first = d->store->slices.count + events->intervals.first[key->row];
        count = events->intervals.first[key->row + 1] - events->intervals.first[key->row];
    } else if (track->kind == MRD__TRACK_COUNTER) {
        return false; /* samples are no slices */
    }
    return d->id >= first && d->id - first < count;
}

mrd_status mrd__query_detail(const mrd__store *store, uint32_t track, uint64_t id,
                             const mrd_sink *sink, mrd_error *error)
{
    if (track >= store->track_count)
        return mrd__fail(error, MRD_ERR_NOT_FOUND, "no_such_track",
                         "there is no track %" PRIu32 "; the trace has %zu", track,
                         store->track_count);
    detail d = {.store = store, .track = &store->tracks[track], .track_id = track, .id = id};
    if (!has_id(&d))
        return mrd__fail(error, MRD_ERR_NOT_FOUND, "no_such_slice",
                         "there is no slice or instant %" PRIu64 " in track %" PRIu32, id, track);
    mrd_status status = MRD_OK;
    if (d.track->event_key != MRD__NONE)
        add_interval(&d, &store->events->keys[d.track->event_key]);
    else if (d.track->kind == MRD__TRACK_INSTANT)
        status = add_instant(&d, error);
    else
        status = add_slice(&d, error);
    mrd__buf_text(&d.out, "}\n");
    if (status == MRD_OK) status = mrd__buf_flush(&d.out, sink, error);
    mrd__buf_reset(&d.out);
    mrd__buf_reset(&d.scratch);
    return status;
}
