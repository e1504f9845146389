/* From events to nested slices of one thread.
 *
 * Pairing. Time order, equal times in file order. An E closes the latest open B, or the latest
 * one whose name and category match where the E gives them. Bs opened inside the closed one that
 * began earlier than the E end with it (misplaced_end, each counts, and their own later E finds
 * nothing; an own E at the same time makes it right, ends at one time come in any order). Those
 * that began at the E's very time stay open and stand beside it. An E that closes
 * nothing is unmatched_end. X and B/E do not see each other here.
 *
 * Order at equal start, now that all ends are known: an interval that is not empty stands before
 * every shorter one that starts with it, equal ones in file order. So a parent stands before its
 * child however the file was written, X or B. Empty ones (no duration) keep their place in file
 * order among these, but an empty X stands behind all other X.
 *
 * Nesting. Intervals are half-open. A slice nests in the innermost open one of the main rows when
 * it fits inside, and stands on the first row when none is open. One that starts inside and ends
 * outside spills: never cut, never dropped, it goes to a row group of its own, and the main rows go
 * on as if it were not there. A further spilled one nests in the latest started spilled slice that
 * contains it, or takes the lowest group that is free.
 *
 *   main      |--A-----------|                   B overlaps A and spills; C overlaps A as well but
 *               |--E--|         |--D--|          lies inside B; D starts when A has ended.
 *   group 1           |--B--------------|
 *                        |--C------|
 *
 * The spilled candidates are a stack of falling ends: a slice that ends earlier than v, or has
 * ended, can contain nothing that starts after v which v does not contain as well.
 *
 * Empty slices at one time nest in each other (the first is outer) unless the first was a B whose
 * E came before or one that is not empty stands between them. */
#include "pairing/slices.h"

#include <stdlib.h>

/* ---- Pairing ---- */

void mrd__join_args(mrd__item *begin, const mrd__item *end, const mrd__args_joiner *joiner)
{
    if ((end->marks & MRD__ITEM_FLOW) != 0 && joiner->bound != NULL) {
        joiner->bound(joiner->ctx, begin->order, end->order);
        begin->marks |= MRD__ITEM_FLOW;
    }
    if ((end->marks & MRD__ITEM_PLACE) != 0 || end->args == 0) return;
    if ((begin->marks & MRD__ITEM_PLACE) != 0 || begin->args == 0) {
        begin->args = end->args;
        begin->marks &= (uint16_t)~MRD__ITEM_PLACE;
    } else {
        begin->args = joiner->join(joiner->ctx, begin->args, end->args);
    }
}

/* How many begins of a list an end could match: by name and category, by name, by category. So an
 * end that nothing matches costs no walk through all that is open. Short lists go without. */
#define TALLY_FROM 64

typedef struct tally_entry {
    uint32_t name, category, count;
    bool used;
} tally_entry;

typedef struct begin_list {
    MRD__VEC(uint32_t) items;
    tally_entry *slots; /* NULL: not counted */
    size_t size, entries;
} begin_list;

static tally_entry *tally_slot(const begin_list *list, uint32_t name, uint32_t category)
{
    size_t at = mrd__hash_mix(name, category) & (list->size - 1);
    while (list->slots[at].used &&
           (list->slots[at].name != name || list->slots[at].category != category))
        at = (at + 1) & (list->size - 1);
    return &list->slots[at];
}

static void grow_tally(begin_list *list)
{
    begin_list grown = {.size = list->size * 2, .entries = list->entries};
    grown.slots = mrd__new_array(tally_entry, grown.size);
    for (size_t i = 0; i < list->size; i++) {
        const tally_entry *own = &list->slots[i];
        if (own->used) *tally_slot(&grown, own->name, own->category) = *own;
    }
    mrd__free(list->slots);
    list->slots = grown.slots;
    list->size = grown.size;
}

static void tally_one(begin_list *list, uint32_t name, uint32_t category, bool more)
{
    if (more && (list->entries + 1) * 2 > list->size) grow_tally(list);
    tally_entry *entry = tally_slot(list, name, category);
    if (!entry->used) {
        *entry = (tally_entry){.name = name, .category = category, .used = true};
        list->entries++;
    }
    entry->count += more ? 1u : (uint32_t)-1;
}

static void tally(begin_list *list, const mrd__item *begin, bool more)
{
    if (list->slots == NULL) return;
    tally_one(list, begin->name, begin->category, more);
    tally_one(list, begin->name, 0, more);
    tally_one(list, 0, begin->category, more);
}

static void drop_tally(begin_list *list)
{
    mrd__free(list->slots);
    list->slots = NULL;
    list->size = list->entries = 0;
}

static void push_begin(begin_list *list, const mrd__item *items, uint32_t index)
{
    mrd__vec_push(&list->items, index);
    if (list->slots != NULL) {
        tally(list, &items[index], true);
    } else if (list->items.count > TALLY_FROM) {
        list->size = 8 * TALLY_FROM;
        list->slots = mrd__new_array(tally_entry, list->size);
        for (size_t i = 0; i < list->items.count; i++)
            tally(list, &items[list->items.data[i]], true);
    }
}

/* Open begins, and those that an E of an outer one cut at cut_ts: their own E may still come at
 * that very time, then nothing was amiss. */
typedef struct pairing {
    mrd__item *items;
    begin_list open, cut;
    int64_t cut_ts;
    const mrd__args_joiner *joiner;
    mrd__found *found;
} pairing;

static bool matches(const mrd__item *end, const mrd__item *begin)
{
    return (end->name == 0 || end->name == begin->name) &&
           (end->category == 0 || end->category == begin->category);
}

/* Place + 1 of the latest begin that matches, 0: none. */
static size_t find_match(pairing *p, const begin_list *list, const mrd__item *end)
{
    bool any = end->name == 0 && end->category == 0;
    if (!any && list->slots != NULL && tally_slot(list, end->name, end->category)->count == 0)
        return 0;
    size_t at = list->items.count;
    while (at > 0 && !matches(end, &p->items[list->items.data[at - 1]]))
        at--;
    p->found->steps += list->items.count - at;
    return at;
}

static void close_begin(mrd__item *begin, int64_t ts, uint32_t order)
{
    begin->flags &= (uint8_t)~MRD__SLICE_UNCLOSED;
    begin->dur = (int64_t)((uint64_t)ts - (uint64_t)begin->ts);
    if (begin->dur == 0) {
        begin->marks |= MRD__ITEM_ZERO;
        begin->dur = order;
    }
}

static void settle_cuts(pairing *p)
{
    for (size_t i = 0; i < p->cut.items.count; i++)
        mrd__found_add(p->found, MRD__LOSS_MISPLACED_END, &p->items[p->cut.items.data[i]]);
    p->cut.items.count = 0;
    drop_tally(&p->cut);
}

/* An E that names what was cut at its time. */
static bool close_cut(pairing *p, const mrd__item *end)
{
    if (end->name == 0) return false;
    size_t at = find_match(p, &p->cut, end);
    if (at == 0 || p->cut.items.data == NULL) return false;
    mrd__item *begin = &p->items[p->cut.items.data[at - 1]];
    tally(&p->cut, begin, false);
    mrd__join_args(begin, end, p->joiner);
    for (size_t i = at; i < p->cut.items.count; i++)
        p->cut.items.data[i - 1] = p->cut.items.data[i];
    p->cut.items.count--;
    return true;
}

/* False when nothing matches. */
static bool close_match(pairing *p, const mrd__item *end)
{
    if (p->cut.items.count > 0 && p->cut_ts != end->ts) settle_cuts(p);
    if (close_cut(p, end)) return true;
    size_t at = find_match(p, &p->open, end);
    if (at == 0 || p->open.items.data == NULL) return false;
    at--;
    mrd__item *begin = &p->items[p->open.items.data[at]];
    tally(&p->open, begin, false);
    close_begin(begin, end->ts, end->order);
    mrd__join_args(begin, end, p->joiner);
    size_t kept = at;
    p->cut_ts = end->ts;
    for (size_t i = at + 1; i < p->open.items.count; i++) {
        uint32_t index = p->open.items.data[i];
        mrd__item *inner = &p->items[index];
        if (inner->ts == end->ts) {
            p->open.items.data[kept++] = index;
            continue;
        }
        tally(&p->open, inner, false);
        close_begin(inner, end->ts, end->order);
        push_begin(&p->cut, p->items, index);
    }
    p->open.items.count = kept;
    if (kept < TALLY_FROM / 2) drop_tally(&p->open);
    return true;
}

/* Match and take out the ends. */
static uint32_t pair_ends(mrd__item *items, uint32_t count, const mrd__args_joiner *joiner,
                          mrd__found *found)
{
    pairing p = {.items = items, .joiner = joiner, .found = found};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].phase == MRD__END) {
            if (!close_match(&p, &items[i]))
                mrd__found_add(found, MRD__LOSS_UNMATCHED_END, &items[i]);
            continue;
        }
        items[kept] = items[i];
        if (items[kept].phase == MRD__BEGIN) {
            items[kept].flags |= MRD__SLICE_UNCLOSED;
            push_begin(&p.open, items, kept);
        }
        kept++;
    }
    settle_cuts(&p);
    drop_tally(&p.open);
    mrd__vec_reset(&p.open.items);
    mrd__vec_reset(&p.cut.items);
    return kept;
}

/* ---- Order at equal start ---- */

/* Longer first, then file order. */
static int compare_longer(const void *left, const void *right)
{
    const mrd__item *a = left;
    const mrd__item *b = right;
    int64_t end_a = mrd__item_end(a);
    int64_t end_b = mrd__item_end(b);
    if (end_a != end_b) return end_a > end_b ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void sort_longer(mrd__item *run, uint32_t count)
{
    if (count > 16) {
        qsort(run, count, sizeof *run, compare_longer);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        mrd__item item = run[i];
        uint32_t at = i;
        for (; at > 0 && compare_longer(&item, &run[at - 1]) < 0; at--)
            run[at] = run[at - 1];
        run[at] = item;
    }
}

/* Number of the first `solid` items of a run (sorted longer first) that stand before this empty
 * one: up to the last X when it is an X itself, else up to the last that precedes it in the file.
 * least[i] is the least order of run[i..solid). */
static uint32_t place_of_empty(const uint32_t *least, uint32_t solid, uint32_t last_complete,
                               const mrd__item *item)
{
    uint32_t low = 0;
    uint32_t high = solid;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (least[middle] < item->order)
            low = middle + 1;
        else
            high = middle;
    }
    if (item->phase == MRD__COMPLETE && last_complete > low) return last_complete;
    return low;
}

/* A run with empty and other slices, not X alone; sorted longer first already, so that the empty
 * ones stand at its end in file order. */
static void place_empties(mrd__item *run, uint32_t solid, uint32_t count)
{
    mrd__item *out = mrd__alloc((size_t)count * sizeof *out);
    uint32_t *least = mrd__alloc((size_t)(solid + 1) * sizeof *least);
    uint32_t last_complete = 0;
    least[solid] = UINT32_MAX;
    for (uint32_t i = solid; i-- > 0;) {
        least[i] = run[i].order < least[i + 1] ? run[i].order : least[i + 1];
        if (run[i].phase == MRD__COMPLETE && last_complete == 0) last_complete = i + 1;
    }
    /* Count, then place: before[k] empties go in front of solid item k. */
    uint32_t *cursor = mrd__calloc((size_t)solid + 2, sizeof *cursor);
    for (uint32_t i = solid; i < count; i++)
        cursor[place_of_empty(least, solid, last_complete, &run[i]) + 1]++;
    for (uint32_t k = 1; k <= solid + 1; k++)
        cursor[k] += cursor[k - 1];
    for (uint32_t k = 0; k < solid; k++)
        out[cursor[k + 1] + k] = run[k];
    for (uint32_t i = solid; i < count; i++) {
        uint32_t k = place_of_empty(least, solid, last_complete, &run[i]);
        out[cursor[k]++ + k] = run[i];
    }
    for (uint32_t i = 0; i < count; i++)
        run[i] = out[i];
    mrd__free(cursor);
    mrd__free(least);
    mrd__free(out);
}

static void order_run(mrd__item *run, uint32_t count)
{
    sort_longer(run, count);
    uint32_t solid = 0;
    bool only_complete = true;
    for (uint32_t i = 0; i < count; i++) {
        if (mrd__item_end(&run[i]) > run[i].ts) solid++;
        if (run[i].phase != MRD__COMPLETE) only_complete = false;
    }
    if (!only_complete && solid > 0 && solid < count) place_empties(run, solid, count);
}

void mrd__slices_order_ties(mrd__item *items, uint32_t count)
{
    for (uint32_t from = 0; from + 1 < count;) {
        uint32_t to = from + 1;
        while (to < count && items[to].ts == items[from].ts)
            to++;
        if (to - from > 1) order_run(items + from, to - from);
        from = to;
    }
}

static void mend_negative(mrd__item *items, uint32_t count, mrd__found *found)
{
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].phase != MRD__COMPLETE || items[i].dur >= 0) continue;
        items[i].dur = 0;
        items[i].flags |= MRD__SLICE_NEGATIVE_DUR;
        mrd__found_add(found, MRD__LOSS_NEGATIVE_DURATION, &items[i]);
    }
}

uint32_t mrd__slices_pair(mrd__item *items, uint32_t count, const mrd__args_joiner *joiner,
                          mrd__found *found)
{
    bool pairs = false;
    for (uint32_t i = 0; i < count && !pairs; i++)
        pairs = items[i].phase != MRD__COMPLETE;
    if (pairs) count = pair_ends(items, count, joiner, found);
    mend_negative(items, count, found);
    mrd__slices_order_ties(items, count);
    return count;
}

/* ---- Nesting ---- */

typedef struct open_slice {
    int64_t start, end;
    uint32_t item;
    uint32_t close; /* empty ones: order of the E, everything else UINT32_MAX */
    uint32_t group;
    uint32_t depth;
} open_slice;

typedef struct row_group {
    MRD__VEC(open_slice) open;
    MRD__VEC(uint32_t) lanes; /* lane of each depth */
} row_group;

typedef struct nest {
    MRD__VEC(open_slice) candidates;
    MRD__VEC(row_group) groups;
    mrd__lane_set spilled; /* lane k is group k + 1 */
    mrd__nested *out;
} nest;

/* v is empty, starts where top (empty too) starts, and lies inside it. */
static bool empty_inside(const open_slice *top, const open_slice *v)
{
    return top->start == v->start && v->end == v->start && v->close <= top->close;
}

static bool has_ended(const open_slice *top, const open_slice *v)
{
    return top->end <= v->start && !(top->end == top->start && empty_inside(top, v));
}

static row_group *group_of(nest *n, uint32_t index)
{
    while (n->groups.count <= index)
        mrd__vec_push(&n->groups, (row_group){0});
    return &n->groups.data[index];
}

/* Lane of a depth of a group, MRD__NONE when the limit is reached. */
static uint32_t lane_of(nest *n, row_group *group, uint32_t index, uint32_t depth)
{
    if (depth < group->lanes.count) return group->lanes.data[depth];
    if (n->out->lanes.count >= MRD__LINES_MAX) return MRD__NONE;
    mrd__lane lane = {.major = index, .minor = depth, .depth = (uint16_t)depth};
    mrd__vec_push(&n->out->lanes, lane);
    uint32_t id = (uint32_t)n->out->lanes.count - 1;
    mrd__vec_push(&group->lanes, id);
    return id;
}

static void drop_ended(row_group *group, const open_slice *v)
{
    while (group->open.count > 0 && has_ended(&group->open.data[group->open.count - 1], v))
        group->open.count--;
}

/* Place of v in the main rows; false when it spills. */
static bool find_main(nest *n, open_slice *v, uint32_t *parent)
{
    row_group *group = &n->groups.data[0];
    drop_ended(group, v);
    *parent = MRD__NONE;
    if (group->open.count == 0) return true;
    const open_slice *top = &group->open.data[group->open.count - 1];
    if (top->end < v->end) return false;
    *parent = top->item;
    v->depth = top->depth + 1;
    return true;
}

/* Place of v among the spilled. */
static void find_spilled(nest *n, open_slice *v, uint32_t *parent)
{
    while (n->candidates.count > 0) {
        const open_slice *top = &n->candidates.data[n->candidates.count - 1];
        if (top->end >= v->end && !has_ended(top, v)) break;
        n->candidates.count--;
    }
    if (n->candidates.count > 0) {
        const open_slice *holder = &n->candidates.data[n->candidates.count - 1];
        row_group *group = &n->groups.data[holder->group];
        drop_ended(group, v);
        if (group->open.data[group->open.count - 1].item == holder->item) {
            v->group = holder->group;
            v->depth = holder->depth + 1;
            *parent = holder->item;
            return;
        }
    }
    bool fresh;
    v->group = 1 + mrd__lane_set_take(&n->spilled, v->start, v->end, &fresh);
    group_of(n, v->group)->open.count = 0;
}

static void nest_one(nest *n, mrd__item *items, uint32_t i, mrd__found *found)
{
    mrd__item *item = &items[i];
    open_slice v = {.start = item->ts,
                    .end = mrd__item_end(item),
                    .item = i,
                    .close = (item->marks & MRD__ITEM_ZERO) != 0 ? (uint32_t)item->dur : MRD__NONE};
    /* An empty B closed before this one began cannot hold it: compare the begin with its end. */
    if (v.close == MRD__NONE) v.close = v.end == v.start ? item->order : MRD__NONE;
    uint32_t parent;
    bool spilled = !find_main(n, &v, &parent);
    if (spilled) find_spilled(n, &v, &parent);
    row_group *group = &n->groups.data[v.group];
    uint32_t lane = lane_of(n, group, v.group, v.depth);
    n->out->parent[i] = parent;
    n->out->lane[i] = lane;
    if ((item->marks & MRD__ITEM_ZERO) != 0) item->dur = 0;
    if (lane == MRD__NONE) {
        n->out->dropped++;
        mrd__found_add(found, MRD__LOSS_DEPTH_LIMIT, item);
        return;
    }
    n->out->lanes.data[lane].count++;
    if (spilled) {
        item->flags |= MRD__SLICE_OVERLAP;
        mrd__found_add(found, MRD__LOSS_OVERLAPPING_COMPLETE_EVENTS, item);
    }
    /* As a holder an empty X takes in every later empty one, a B those before its E. */
    if (item->phase == MRD__COMPLETE) v.close = MRD__NONE;
    mrd__vec_push(&group->open, v);
    if (spilled) mrd__vec_push(&n->candidates, v);
}

void mrd__slices_nest(mrd__item *items, uint32_t count, mrd__nested *out, mrd__found *found)
{
    out->count = count;
    nest n = {.out = out};
    group_of(&n, 0);
    for (uint32_t i = 0; i < count; i++)
        nest_one(&n, items, i, found);
    for (size_t g = 0; g < n.groups.count; g++) {
        mrd__vec_reset(&n.groups.data[g].open);
        mrd__vec_reset(&n.groups.data[g].lanes);
    }
    mrd__vec_reset(&n.groups);
    mrd__vec_reset(&n.candidates);
    mrd__lane_set_reset(&n.spilled);
}
