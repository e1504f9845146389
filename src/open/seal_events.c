/* Event records: derived parts, and a track for every key. */
#include "open/sealing.h"

#include "model/events.h"
#include "pairing/event_pairs.h"

#include <math.h>
#include <stdlib.h>

/* Groups in display order; the others follow by name, "other" (no underscore) last. */
static const char *const first_groups[] = {"link", "cdma", "flow"};
#define FIRST_GROUPS (sizeof first_groups / sizeof first_groups[0])

static mrd__str group_of(mrd__str component)
{
    for (size_t i = 0; i < component.size; i++)
        if (component.data[i] == '_') return (mrd__str){component.data, i};
    return MRD__STR("other");
}

static size_t group_rank(mrd__str group)
{
    for (size_t i = 0; i < FIRST_GROUPS; i++)
        if (mrd__str_is(group, first_groups[i])) return i;
    return mrd__str_is(group, "other") ? FIRST_GROUPS + 1 : FIRST_GROUPS;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Byte order, but runs of digits as numbers: chip 2 stands before chip 10. */
static int compare_natural(mrd__str a, mrd__str b)
{
    size_t i = 0;
    size_t j = 0;
    while (i < a.size && j < b.size) {
        if (!is_digit(a.data[i]) || !is_digit(b.data[j])) {
            if (a.data[i] != b.data[j])
                return (unsigned char)a.data[i] < (unsigned char)b.data[j] ? -1 : 1;
            i++;
            j++;
            continue;
        }
        while (i + 1 < a.size && a.data[i] == '0' && is_digit(a.data[i + 1]))
            i++;
        while (j + 1 < b.size && b.data[j] == '0' && is_digit(b.data[j + 1]))
            j++;
        size_t from_a = i;
        size_t from_b = j;
        while (i < a.size && is_digit(a.data[i]))
            i++;
        while (j < b.size && is_digit(b.data[j]))
            j++;
        if (i - from_a != j - from_b) return i - from_a < j - from_b ? -1 : 1;
        int digits = mrd__str_compare((mrd__str){a.data + from_a, i - from_a},
                                      (mrd__str){b.data + from_b, j - from_b});
        if (digits != 0) return digits;
    }
    if (i < a.size || j < b.size) return i < a.size ? 1 : -1;
    return mrd__str_compare(a, b);
}

typedef struct key_order {
    const mrd__events *events;
    uint32_t key;
} key_order;

static int compare_keys(const void *left, const void *right)
{
    const key_order *x = left;
    const key_order *y = right;
    const mrd__event_key *a = &x->events->keys[x->key];
    const mrd__event_key *b = &y->events->keys[y->key];
    if (a->component != b->component) {
        mrd__str name_a = x->events->components[a->component];
        mrd__str name_b = y->events->components[b->component];
        size_t rank_a = group_rank(group_of(name_a));
        size_t rank_b = group_rank(group_of(name_b));
        if (rank_a != rank_b) return rank_a < rank_b ? -1 : 1;
        int by_group = mrd__str_compare(group_of(name_a), group_of(name_b));
        if (by_group != 0) return by_group;
        int by_name = compare_natural(name_a, name_b);
        if (by_name != 0) return by_name;
    }
    if (a->form != b->form) return a->form < b->form ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

static mrd__track track_of_key(mrd__sealing *seal, uint32_t index)
{
    static const uint8_t kinds[] = {[MRD__FORM_INTERVAL] = MRD__TRACK_INTERVAL,
                                    [MRD__FORM_COUNTER] = MRD__TRACK_COUNTER,
                                    [MRD__FORM_INSTANT] = MRD__TRACK_INSTANT};
    const mrd__events *events = seal->store->events;
    const mrd__event_key *key = &events->keys[index];
    mrd__str component = events->components[key->component];
    mrd__str group = group_of(component);
    mrd__track track = {.kind = kinds[key->form],
                        .scope = MRD__SCOPE_GLOBAL,
                        .parent = MRD__NONE,
                        .name = mrd__seal_string(seal, component.data, component.size),
                        .group = mrd__seal_string(seal, group.data, group.size),
                        .process = MRD__NONE,
                        .thread = MRD__NONE,
                        .first = key->first,
                        .count = key->count,
                        .event_key = index,
                        .file = seal->file_of[seal->writer->events_file]};
    track.machine = seal->store->files[track.file].machine;
    if (key->form == MRD__FORM_INTERVAL) {
        track.first = events->intervals.first[key->row];
        track.count = events->intervals.first[key->row + 1] - track.first;
    }
    return track;
}

static void widen_bounds(mrd__sealing *seal)
{
    mrd__store *store = seal->store;
    const mrd__events *events = store->events;
    if (events->count == 0) return;
    int64_t start = (int64_t)floor(events->start_ns);
    int64_t end = (int64_t)ceil(events->end_ns);
    if (store->empty) {
        store->start_ns = store->view_start_ns = start;
        store->end_ns = store->view_end_ns = end;
        store->empty = false;
        return;
    }
    if (start < store->start_ns) store->start_ns = start;
    if (end > store->end_ns) store->end_ns = end;
    if (start < store->view_start_ns) store->view_start_ns = start;
    if (end > store->view_end_ns) store->view_end_ns = end;
}

void mrd__seal_events(mrd__sealing *seal)
{
    mrd__events *events = seal->writer->events;
    if (events == NULL) return;
    mrd__store *store = seal->store;
    store->events = events;
    seal->writer->events = NULL;
    mrd__events_pair(events, seal->workers);
    widen_bounds(seal);
    key_order *order = mrd__new_array(key_order, events->key_count);
    for (size_t k = 0; k < events->key_count; k++)
        order[k] = (key_order){events, (uint32_t)k};
    if (events->key_count > 1) qsort(order, events->key_count, sizeof *order, compare_keys);
    size_t total = store->track_count + events->key_count;
    store->tracks = mrd__realloc(store->tracks, total * sizeof *store->tracks);
    for (size_t k = 0; k < events->key_count; k++)
        store->tracks[store->track_count++] = track_of_key(seal, order[k].key);
    mrd__free(order);
}
