/* Instants, counter samples, flows and event records. Where a trace has event records besides,
 * both are merged by time; at equal times the plain ones stand first. */
#include "base/error.h"
#include "export/event_merge.h"
#include "export/tables.h"

static const char *const scope_names[] = {"thread", "process", "global"};

/* ---- instant ---- */

typedef struct points {
    const mrd__store *store;
    mrd__plain *plain;
    mrd__track_ranges ranges;
    uint32_t *order;        /* rank to row of the plain ones */
    uint32_t *event_tracks; /* per key, NULL without event records */
} points;

static mrd_status instant_row(const points *p, uint64_t id, mrd_error *error)
{
    const mrd__instants *instants = &p->store->instants;
    uint32_t track = mrd__track_of(&p->ranges, id);
    const mrd__track *info = &p->store->tracks[track];
    bool global = info->scope == MRD__SCOPE_GLOBAL;
    bool thread = info->scope == MRD__SCOPE_THREAD;
    mrd__plain_uint(p->plain, id);
    mrd__plain_text(p->plain, mrd__str_of(scope_names[info->scope]));
    mrd__plain_pid(p->plain, p->store, global ? MRD__NONE : info->process);
    mrd__plain_tid(p->plain, p->store, thread ? info->thread : MRD__NONE);
    mrd__plain_uint(p->plain, track);
    mrd__plain_text(p->plain, mrd__store_str(p->store, instants->name[id]));
    mrd__plain_name(p->plain, p->store, instants->category[id]);
    mrd__plain_int(p->plain, mrd__store_instant_time(p->store, id));
    MRD__TRY(mrd__plain_args(p->plain, p->store, instants->args[id], error));
    return mrd__plain_row(p->plain, error);
}

static mrd_status event_instant_row(const points *p, size_t key, uint64_t at, mrd_error *error)
{
    const mrd__events *events = p->store->events;
    mrd__str detail;
    mrd__plain_uint(p->plain, p->store->instants.count + at);
    mrd__plain_text(p->plain, MRD__STR("global"));
    mrd__plain_null(p->plain);
    mrd__plain_null(p->plain);
    mrd__plain_index(p->plain, p->event_tracks[key]);
    mrd__plain_text(p->plain, mrd__str_of(events->category_names[events->keys[key].category]));
    mrd__plain_null(p->plain);
    mrd__plain_int(p->plain, mrd__event_time(events->time[at]));
    if (mrd__event_detail(events, mrd__event_rank(events, at), &detail))
        mrd__plain_text(p->plain, detail);
    else
        mrd__plain_null(p->plain);
    return mrd__plain_row(p->plain, error);
}

/* ---- counter ---- */

mrd__str mrd__counter_name(const mrd__store *store, const mrd__track *track)
{
    mrd__str name = mrd__store_str(store, track->name);
    mrd__str series = mrd__store_str(store, track->series);
    if (series.size > 0 && name.size > series.size) {
        mrd__str tail = {name.data + name.size - series.size, series.size};
        char before = name.data[name.size - series.size - 1];
        if (before == ' ' && mrd__str_equal(tail, series)) name.size -= series.size + 1;
    }
    return name;
}

static mrd_status counter_row(const points *p, uint64_t id, mrd_error *error)
{
    const mrd__track *track = &p->store->tracks[mrd__track_of(&p->ranges, id)];
    mrd__plain_pid(p->plain, p->store, track->process);
    mrd__plain_text(p->plain, mrd__counter_name(p->store, track));
    mrd__plain_name(p->plain, p->store, track->series);
    mrd__plain_int(p->plain, mrd__store_counter_time(p->store, id));
    mrd__plain_double(p->plain, p->store->counters.value[id]);
    return mrd__plain_row(p->plain, error);
}

static mrd_status event_counter_row(const points *p, size_t key, uint64_t at, mrd_error *error)
{
    const mrd__events *events = p->store->events;
    mrd__plain_null(p->plain);
    mrd__plain_text(p->plain, events->components[events->keys[key].component]);
    mrd__plain_text(p->plain, mrd__str_of(events->category_names[events->keys[key].category]));
    mrd__plain_int(p->plain, mrd__event_time(events->time[at]));
    mrd__plain_double(p->plain, events->value[at]);
    return mrd__plain_row(p->plain, error);
}

/* ---- Both kinds of each, by time ---- */

typedef struct point_kind {
    mrd__event_form form;
    mrd_status (*row)(const points *p, uint64_t id, mrd_error *error);
    mrd_status (*event_row)(const points *p, size_t key, uint64_t at, mrd_error *error);
    int64_t (*time)(const mrd__store *store, uint64_t id);
} point_kind;

static bool next_of_form(mrd__event_merge *merge, mrd__event_form form, size_t *key, uint64_t *at)
{
    while (mrd__event_merge_next(merge, key, at)) {
        if (merge->events->keys[*key].form == form) return true;
    }
    return false;
}

static mrd_status merged_points(const points *p, const point_kind *kind, uint64_t count,
                                mrd_error *error)
{
    mrd__event_merge merge;
    mrd__event_merge_begin(&merge, p->store->events);
    size_t key;
    uint64_t at;
    bool more = next_of_form(&merge, kind->form, &key, &at);
    mrd_status status = MRD_OK;
    for (uint64_t i = 0; status == MRD_OK && (i < count || more);) {
        bool plain_first = i < count && (!more || kind->time(p->store, p->order[i]) <=
                                                      mrd__event_time(p->store->events->time[at]));
        if (plain_first) {
            status = kind->row(p, p->order[i++], error);
        } else {
            status = kind->event_row(p, key, at, error);
            more = next_of_form(&merge, kind->form, &key, &at);
        }
    }
    mrd__event_merge_reset(&merge);
    return status;
}

static mrd_status dump_points(points *p, const point_kind *kind, const uint32_t *rank,
                              uint64_t count, mrd_error *error)
{
    p->order = mrd__by_rank(rank, count);
    mrd_status status = MRD_OK;
    if (p->store->events != NULL) {
        p->event_tracks = mrd__event_tracks(p->store);
        status = merged_points(p, kind, count, error);
    } else {
        for (uint64_t i = 0; i < count && status == MRD_OK; i++)
            status = kind->row(p, p->order[i], error);
    }
    mrd__free(p->order);
    mrd__free(p->event_tracks);
    mrd__track_ranges_reset(&p->ranges);
    return status;
}

mrd_status mrd__dump_instants(const mrd__store *store, mrd__plain *plain, mrd_error *error)
{
    static const point_kind instants = {MRD__FORM_INSTANT, instant_row, event_instant_row,
                                        mrd__store_instant_time};
    points p = {store, plain, mrd__track_ranges_of(store, MRD__TRACK_INSTANT), NULL, NULL};
    return dump_points(&p, &instants, store->instants.order, store->instants.count, error);
}

mrd_status mrd__dump_counters(const mrd__store *store, mrd__plain *plain, mrd_error *error)
{
    static const point_kind counters = {MRD__FORM_COUNTER, counter_row, event_counter_row,
                                        mrd__store_counter_time};
    points p = {store, plain, mrd__track_ranges_of(store, MRD__TRACK_COUNTER), NULL, NULL};
    return dump_points(&p, &counters, store->counters.order, store->counters.count, error);
}

/* ---- flow ---- */

static void flow_side(const mrd__store *store, mrd__plain *plain, uint32_t slice, double time)
{
    uint32_t track = store->row_infos[mrd__store_row_of(store, slice)].track;
    mrd__plain_uint(plain, slice);
    mrd__plain_text(plain, mrd__store_str(store, store->slices.name[slice]));
    mrd__plain_pid(plain, store, store->tracks[track].process);
    mrd__plain_tid(plain, store, store->tracks[track].thread);
    mrd__plain_int(plain, mrd__store_absolute(store, time));
}

mrd_status mrd__dump_flows(const mrd__store *store, mrd__plain *plain, mrd_error *error)
{
    for (size_t i = 0; i < store->flow_count; i++) {
        const mrd__flow *flow = &store->flows[i];
        mrd__plain_name(plain, store, flow->category);
        mrd__plain_text(plain, mrd__store_str(store, flow->name));
        mrd__plain_text(plain, mrd__store_str(store, flow->id));
        flow_side(store, plain, flow->from, flow->from_time);
        flow_side(store, plain, flow->to, flow->to_time);
        MRD__TRY(mrd__plain_row(plain, error));
    }
    return MRD_OK;
}

/* ---- event ---- */

static mrd_status event_row(const mrd__events *events, mrd__plain *plain, size_t key, uint64_t at,
                            mrd_error *error)
{
    const mrd__event_key *info = &events->keys[key];
    uint8_t category = mrd__event_category(events, info, at);
    mrd__str detail;
    mrd__plain_double(plain, events->time[at]);
    mrd__plain_text(plain, mrd__str_of(events->category_names[category]));
    mrd__plain_text(plain, events->components[info->component]);
    mrd__plain_double(plain, events->value[at]);
    if (mrd__event_detail(events, mrd__event_rank(events, at), &detail))
        mrd__plain_text(plain, detail);
    else
        mrd__plain_null(plain);
    return mrd__plain_row(plain, error);
}

mrd_status mrd__dump_events(const mrd__store *store, mrd__plain *plain, mrd_error *error)
{
    if (store->events == NULL) return MRD_OK;
    mrd__event_merge merge;
    mrd__event_merge_begin(&merge, store->events);
    mrd_status status = MRD_OK;
    size_t key;
    uint64_t at;
    while (status == MRD_OK && mrd__event_merge_next(&merge, &key, &at))
        status = event_row(store->events, plain, key, at, error);
    mrd__event_merge_reset(&merge);
    return status;
}
