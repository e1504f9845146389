/* The lane tree: one lane a track, in track order (which is display order), and a group before the
 * first lane of each process or, for event records, of each kind of component. Parents are indices
 * of the list, and a lane may stand before its parent. */
#include "query/query.h"

#include "model/events.h"
#include "query/ident.h"

#include <string.h>

#define FLUSH_BYTES (256 * 1024)

typedef struct lanes {
    const mrd__store *store;
    const mrd_sink *sink;
    mrd__buf out;
    uint32_t written;
    uint32_t *lane_of_track;
    uint32_t *lane_of_process; /* MRD__NONE while it has none */
    uint32_t *lane_of_group;   /* by string id of the group's name; lazily backed */
} lanes;

static bool is_event(const mrd__track *track)
{
    return track->event_key != MRD__NONE;
}

/* ---- Numbering ---- */

/* The group a track belongs under, as a slot that holds its lane; NULL for none. */
static uint32_t *group_of(lanes *all, const mrd__track *track)
{
    if (is_event(track)) return &all->lane_of_group[track->group];
    if (track->process != MRD__NONE) return &all->lane_of_process[track->process];
    return NULL;
}

/* Lane of each track and group, before anything is written: lane + 1 while counting. */
static void number_lanes(lanes *all)
{
    const mrd__store *store = all->store;
    uint32_t next = 0;
    for (size_t id = 0; id < store->track_count; id++) {
        uint32_t *group = group_of(all, &store->tracks[id]);
        if (group != NULL && *group == 0) *group = ++next;
        all->lane_of_track[id] = next++;
    }
}

/* ---- Writing ---- */

static void begin_lane(lanes *all)
{
    mrd__buf_text(&all->out, all->written++ > 0 ? ",\n{" : "\n{");
}

static void add_index(mrd__buf *out, const char *name, uint32_t index)
{
    mrd__buf_text(out, name);
    if (index == MRD__NONE)
        mrd__buf_text(out, "null");
    else
        mrd__buf_uint(out, index);
}

/* "stream 7" says 7 already, "seven17" does not. */
static bool ends_with_word(const mrd__buf *text, const mrd__buf *word)
{
    if (word->size == 0 || word->size > text->size) return false;
    size_t at = text->size - word->size;
    if (memcmp(text->data + at, word->data, word->size) != 0) return false;
    unsigned char before = at > 0 ? (unsigned char)text->data[at - 1] : ' ';
    return before == ' ' || before == '#' || before == ':' || before == '/';
}

/* "name id (labels)more", with `what` where there is no name; no id that ends the name anyway. */
static void add_title(mrd__buf *out, const mrd__store *store, const char *what, mrd__str_id name,
                      mrd__ident ident, mrd__str_id labels, const char *more)
{
    mrd__buf text = {0};
    if (name != 0)
        mrd__buf_str(&text, mrd__store_str(store, name));
    else
        mrd__buf_text(&text, what);
    if (ident.kind != MRD__IDENT_NONE) {
        mrd__buf id = {0};
        mrd__ident_text(&id, store, ident);
        if (!ends_with_word(&text, &id)) {
            mrd__buf_char(&text, ' ');
            mrd__buf_str(&text, (mrd__str){id.data, id.size});
        }
        mrd__buf_reset(&id);
    }
    if (labels != 0) {
        mrd__buf_text(&text, " (");
        mrd__buf_str(&text, mrd__store_str(store, labels));
        mrd__buf_char(&text, ')');
    }
    mrd__buf_text(&text, more);
    mrd__buf_json_string(out, (mrd__str){text.data, text.size});
    mrd__buf_reset(&text);
}

static void add_process(lanes *all, const mrd__process *process)
{
    mrd__buf *out = &all->out;
    begin_lane(all);
    mrd__buf_text(out, "\"id\":null,\"parent\":null,\"kind\":\"group\",\"name\":");
    add_title(out, all->store, "Process", process->name, process->pid, process->labels, "");
    mrd__buf_text(out, ",\"group\":null,\"sort\":");
    mrd__buf_int(out, process->sort_index);
    mrd__buf_printf(out, ",\"rows\":0,\"machine\":%u,\"anomalous\":false,\"count\":0,\"pid\":",
                    process->machine);
    mrd__ident_json(out, all->store, process->pid);
    mrd__buf_char(out, '}');
}

static void add_component_group(lanes *all, mrd__str_id name)
{
    mrd__buf *out = &all->out;
    begin_lane(all);
    mrd__buf_text(out, "\"id\":null,\"parent\":null,\"kind\":\"group\",\"name\":");
    mrd__buf_json_string(out, mrd__store_str(all->store, name));
    mrd__buf_text(out, ",\"group\":");
    mrd__buf_json_string(out, mrd__store_str(all->store, name));
    mrd__buf_text(out, ",\"sort\":null,\"rows\":0,\"machine\":0,\"anomalous\":false,\"count\":0}");
}

static const char *kind_of(const mrd__track *track)
{
    switch (track->kind) {
    case MRD__TRACK_INTERVAL:
        return "interval";
    case MRD__TRACK_COUNTER:
        return "counter";
    case MRD__TRACK_INSTANT:
        return "instant";
    default:
        return track->count == 0 ? "group" : "slices"; /* group: names what is below it */
    }
}

/* Instants of a track that the file describes: its name is not its owner's. */
static bool has_own_name(const mrd__store *store, const mrd__track *track)
{
    mrd__str_id owner = 0;
    if (track->thread != MRD__NONE)
        owner = store->threads[track->thread].name;
    else if (track->process != MRD__NONE)
        owner = store->processes[track->process].name;
    return track->name != 0 && track->name != owner;
}

/* Lanes of a thread by the thread, of others by what the file calls them. */
static void add_track_name(lanes *all, const mrd__track *track)
{
    const mrd__store *store = all->store;
    bool instants = track->kind == MRD__TRACK_INSTANT;
    if (instants && has_own_name(store, track)) {
        bool beside =
            track->parent != MRD__NONE && store->tracks[track->parent].name == track->name;
        add_title(&all->out, store, "", track->name, (mrd__ident){0}, 0, beside ? " instants" : "");
        return;
    }
    if ((instants || track->kind == MRD__TRACK_THREAD) && track->thread != MRD__NONE) {
        const mrd__thread *thread = &store->threads[track->thread];
        add_title(&all->out, store, "Thread", thread->name, thread->tid, 0,
                  instants ? " instants" : "");
        return;
    }
    mrd__str name = mrd__store_str(store, track->name);
    if (instants)
        name = track->process != MRD__NONE ? MRD__STR("Instants") : MRD__STR("Global instants");
    mrd__buf_json_string(&all->out, name);
}

static void add_sort(lanes *all, const mrd__track *track)
{
    mrd__buf_text(&all->out, ",\"sort\":");
    if (!is_event(track) && track->thread != MRD__NONE)
        mrd__buf_int(&all->out, all->store->threads[track->thread].sort_index);
    else
        mrd__buf_text(&all->out, "null");
}

/* What only lanes of event records have. */
static void add_event_members(lanes *all, const mrd__event_key *key)
{
    const mrd__events *events = all->store->events;
    mrd__buf *out = &all->out;
    mrd__buf_text(out, ",\"component\":");
    mrd__buf_json_string(out, events->components[key->component]);
    mrd__buf_text(out, ",\"category\":");
    mrd__buf_json_string(out, mrd__str_of(events->category_names[key->category]));
    if (key->anomaly_count == 0) return;
    mrd__buf_text(out, ",\"anomalies\":{\"count\":");
    mrd__buf_uint(out, key->anomaly_count);
    mrd__buf_text(out, ",\"first_ns\":");
    mrd__buf_json_double(out, key->anomaly_first_ns);
    mrd__buf_char(out, '}');
}

static void add_idents(lanes *all, const mrd__track *track)
{
    const mrd__store *store = all->store;
    if (track->process != MRD__NONE) {
        mrd__buf_text(&all->out, ",\"pid\":");
        mrd__ident_json(&all->out, store, store->processes[track->process].pid);
    }
    if (track->thread != MRD__NONE) {
        mrd__buf_text(&all->out, ",\"tid\":");
        mrd__ident_json(&all->out, store, store->threads[track->thread].tid);
    }
}

/* The track above where there is one, else the group, else nothing. */
static uint32_t parent_lane(lanes *all, const mrd__track *track)
{
    if (track->parent != MRD__NONE && !is_event(track)) return all->lane_of_track[track->parent];
    uint32_t *group = group_of(all, track);
    return group != NULL ? *group - 1 : MRD__NONE;
}

static void add_track(lanes *all, uint32_t id)
{
    const mrd__store *store = all->store;
    const mrd__track *track = &store->tracks[id];
    const mrd__event_key *key = is_event(track) ? &store->events->keys[track->event_key] : NULL;
    bool nested =
        key == NULL && (track->kind == MRD__TRACK_THREAD || track->kind == MRD__TRACK_ASYNC);
    mrd__buf *out = &all->out;
    begin_lane(all);
    add_index(out, "\"id\":", id);
    add_index(out, ",\"parent\":", parent_lane(all, track));
    mrd__buf_printf(out, ",\"kind\":\"%s\",\"name\":", kind_of(track));
    if (key != NULL)
        mrd__buf_json_string(out, store->events->components[key->component]);
    else
        add_track_name(all, track);
    mrd__buf_text(out, ",\"group\":");
    if (track->group != 0)
        mrd__buf_json_string(out, mrd__store_str(store, track->group));
    else
        mrd__buf_text(out, "null");
    add_sort(all, track);
    mrd__buf_printf(out, ",\"rows\":%u,\"machine\":%u", nested ? track->row_count : 1,
                    track->machine);
    mrd__buf_text(out, ",\"anomalous\":");
    mrd__buf_text(out, key != NULL && key->anomaly_count > 0 ? "true" : "false");
    mrd__buf_text(out, ",\"count\":");
    mrd__buf_uint(out, key != NULL ? key->count : track->count);
    if (key != NULL)
        add_event_members(all, key);
    else
        add_idents(all, track);
    mrd__buf_char(out, '}');
}

static mrd_status write_lanes(lanes *all, mrd_error *error)
{
    const mrd__store *store = all->store;
    mrd__buf_text(&all->out, "{\"lanes\":[");
    for (uint32_t id = 0; id < store->track_count; id++) {
        const mrd__track *track = &store->tracks[id];
        if (all->written < all->lane_of_track[id]) { /* its group is numbered just before it */
            if (is_event(track))
                add_component_group(all, track->group);
            else
                add_process(all, &store->processes[track->process]);
        }
        add_track(all, id);
        if (all->out.size >= FLUSH_BYTES) MRD__TRY(mrd__buf_flush(&all->out, all->sink, error));
    }
    mrd__buf_text(&all->out, "\n]}\n");
    return mrd__buf_flush(&all->out, all->sink, error);
}

mrd_status mrd__query_lanes(const mrd__store *store, const mrd_sink *sink, mrd_error *error)
{
    lanes all = {.store = store, .sink = sink};
    size_t group_bytes = store->string_count * sizeof(uint32_t);
    all.lane_of_track = mrd__new_array(uint32_t, store->track_count);
    all.lane_of_process = mrd__new_array(uint32_t, store->process_count);
    all.lane_of_group = mrd__pages_alloc(group_bytes);
    number_lanes(&all);
    mrd_status status = write_lanes(&all, error);
    mrd__free(all.lane_of_track);
    mrd__free(all.lane_of_process);
    if (all.lane_of_group != NULL) mrd__pages_free(all.lane_of_group, group_bytes);
    mrd__buf_reset(&all.out);
    return status;
}
