/* Event records for tests, made straight from a list: nothing here is shared with the importer, so
 * that one holds the other. */
#ifndef MRD_TEST_EVENT_KIT_EVENTS_H
#define MRD_TEST_EVENT_KIT_EVENTS_H

#include "event_kit/tree.h"
#include "model/events.h"

#include <stdlib.h>

static const char *const kit_categories[MRD__CAT_COUNT] = {
    "link_busy", "link_idle", "thread_blocked", "thread_unblocked", "ostd_change", "hop_arrive"};

typedef struct kit_row {
    double time, value;
    int category;
    char component[40];
    const char *detail; /* NULL: null */
    size_t order;       /* place in the file */
} kit_row;

typedef struct kit_rows {
    kit_row *data; /* after kit_sort: in time order, equal times in file order */
    size_t count;
    double sim_end; /* as the file says */
    bool has_sim_end;
} kit_rows;

static inline int kit_category(mrd__str name)
{
    for (int i = 0; i < MRD__CAT_COUNT; i++) {
        if (mrd__str_is(name, kit_categories[i])) return i;
    }
    mrd__assert(!"a category");
    return -1;
}

static inline int kit_opener(int category)
{
    if (category == MRD__CAT_LINK_IDLE) return MRD__CAT_LINK_BUSY;
    return category == MRD__CAT_THREAD_UNBLOCKED ? MRD__CAT_THREAD_BLOCKED : category;
}

static inline bool kit_closes(int category)
{
    return category == MRD__CAT_LINK_IDLE || category == MRD__CAT_THREAD_UNBLOCKED;
}

static inline bool kit_is_interval(int category)
{
    return kit_opener(category) <= MRD__CAT_THREAD_BLOCKED;
}

static int kit_compare(const void *a, const void *b)
{
    const kit_row *left = a, *right = b;
    if (left->time != right->time) return left->time < right->time ? -1 : 1;
    return (left->order > right->order) - (left->order < right->order);
}

static inline void kit_sort(kit_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        rows->data[i].order = i;
    qsort(rows->data, rows->count, sizeof *rows->data, kit_compare);
}

/* {"sim_end_ns"?, "events": [{"time_ns", "category", "component", "value", "detail_json"?}]} */
static inline kit_rows kit_rows_of(const tree *document)
{
    const tree *events = tree_get(document, "events"), *end = tree_get(document, "sim_end_ns");
    kit_rows rows = {.count = tree_count(events)};
    rows.data = mrd__new_array(kit_row, rows.count + 1);
    rows.has_sim_end = end != NULL;
    if (end) rows.sim_end = tree_number(end);
    kit_row *row = rows.data;
    for (const tree *event = events->child; event; event = event->next, row++) {
        const tree *detail = tree_get(event, "detail_json");
        row->time = tree_number(tree_get(event, "time_ns"));
        row->value = tree_number(tree_get(event, "value"));
        row->category = kit_category(tree_get(event, "category")->text);
        snprintf(row->component, sizeof row->component, "%s",
                 tree_get(event, "component")->text.data);
        if (detail && detail->type == MRD__JSON_STRING) row->detail = detail->text.data;
    }
    kit_sort(&rows);
    return rows;
}

static inline double kit_sim_end(const kit_rows *rows)
{
    if (rows->count == 0) return rows->has_sim_end ? rows->sim_end : 1;
    double last = rows->data[rows->count - 1].time;
    return rows->has_sim_end && rows->sim_end > last ? rows->sim_end : last;
}

/* The keys of sorted rows in answer order: component by first appearance, then opener category by
 * its first appearance anywhere. */
typedef struct kit_key {
    const char *component;
    int category; /* the opener's */
} kit_key;

static inline size_t kit_keys(const kit_rows *rows, kit_key *keys, size_t max)
{
    const char *components[512];
    int openers[MRD__CAT_COUNT];
    size_t component_count = 0, opener_count = 0, count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        size_t c = 0, o = 0;
        while (c < component_count && strcmp(components[c], rows->data[i].component) != 0)
            c++;
        mrd__assert(c < 512);
        if (c == component_count) components[component_count++] = rows->data[i].component;
        while (o < opener_count && openers[o] != kit_opener(rows->data[i].category))
            o++;
        if (o == opener_count) openers[opener_count++] = kit_opener(rows->data[i].category);
    }
    for (size_t c = 0; c < component_count; c++) {
        for (size_t o = 0; o < opener_count; o++) {
            for (size_t i = 0; i < rows->count; i++) {
                if (kit_opener(rows->data[i].category) != openers[o]) continue;
                if (strcmp(rows->data[i].component, components[c]) != 0) continue;
                mrd__assert(count < max);
                keys[count++] = (kit_key){components[c], openers[o]};
                break;
            }
        }
    }
    return count;
}

static inline void kit_add_key(mrd__events *events, const kit_rows *rows, kit_key key, uint64_t *at)
{
    mrd__event_key *out = &events->keys[events->key_count++];
    size_t count = events->component_count;
    if (count == 0 || !mrd__str_is(events->components[count - 1], key.component)) {
        size_t size = strlen(key.component);
        events->components[count++] = (mrd__str){mrd__strndup(key.component, size), size};
        events->component_count = count;
    }
    uint32_t row = 0;
    for (mrd__event_key *before = events->keys; before < out; before++)
        row += before->form == MRD__FORM_INTERVAL;
    *out = (mrd__event_key){.component = (uint32_t)count - 1,
                            .category = (uint8_t)key.category,
                            .closer = (uint8_t)key.category,
                            .form = MRD__FORM_INTERVAL,
                            .first = *at,
                            .row = row};
    if (kit_is_interval(key.category))
        out->closer = (uint8_t)(key.category + 1);
    else
        out->row = UINT32_MAX;
    if (key.category == MRD__CAT_OSTD_CHANGE) out->form = MRD__FORM_COUNTER;
    if (key.category == MRD__CAT_HOP_ARRIVE) out->form = MRD__FORM_INSTANT;
    for (size_t i = 0; i < rows->count; i++) {
        const kit_row *from = &rows->data[i];
        if (kit_opener(from->category) != key.category) continue;
        if (strcmp(from->component, key.component) != 0) continue;
        events->time[*at] = from->time;
        events->value[*at] = from->value;
        events->rank[*at] = (uint32_t)i | (kit_closes(from->category) ? MRD__EVENT_CLOSER : 0);
        ++*at;
        out->count++;
    }
}

static inline void kit_add_details(mrd__events *events, const kit_rows *rows)
{
    mrd__buf bytes = {0};
    bool any = false;
    uint64_t *first = mrd__pages_alloc((rows->count + 1) * sizeof *first);
    for (size_t i = 0; i < rows->count; i++) {
        first[i] = bytes.size;
        if (!rows->data[i].detail) continue;
        any = true;
        mrd__buf_add(&bytes, rows->data[i].detail, strlen(rows->data[i].detail) + 1);
    }
    first[rows->count] = bytes.size;
    if (any) {
        events->detail_first = first;
        events->detail_capacity = bytes.size;
        events->detail_bytes = mrd__pages_alloc(bytes.size);
        memcpy(events->detail_bytes, bytes.data, bytes.size);
        mrd__buf_reset(&bytes);
        return;
    }
    mrd__pages_free(first, (rows->count + 1) * sizeof *first);
    mrd__buf_reset(&bytes);
}

/* The raw part of mrd__events of sorted rows; pair it with mrd__events_pair. */
static inline mrd__events *kit_events(const kit_rows *rows)
{
    kit_key keys[512];
    size_t key_count = kit_keys(rows, keys, 512);
    mrd__events *events = mrd__new(mrd__events);
    events->count = rows->count;
    events->time = mrd__pages_alloc(rows->count * sizeof(double));
    events->value = mrd__pages_alloc(rows->count * sizeof(double));
    events->rank = mrd__pages_alloc(rows->count * sizeof(uint32_t));
    events->keys = mrd__new_array(mrd__event_key, key_count);
    events->components = mrd__new_array(mrd__str, key_count + 1);
    memcpy(events->category_names, kit_categories, sizeof kit_categories);
    uint64_t at = 0;
    for (size_t k = 0; k < key_count; k++)
        kit_add_key(events, rows, keys[k], &at);
    mrd__assert(at == rows->count);
    kit_add_details(events, rows);
    if (rows->count) events->start_ns = rows->data[0].time;
    events->end_ns = kit_sim_end(rows);
    return events;
}

#endif
