/* Slices of a thread: the rules by hand, then random traces against a straight reading of them. */
#include "slices_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* "name ts+dur group.depth<parent" of every slice in nesting order; dur -1 open, ! overlap. */
static void describe(const kit_result *r, char *out, size_t size)
{
    size_t at = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < r->items.count; i++) {
        const mrd__item *item = &r->items.data[i];
        const mrd__lane *lane = &r->nested.lanes.data[r->nested.lane[i]];
        uint32_t parent = r->nested.parent[i];
        bool open = (item->flags & MRD__SLICE_UNCLOSED) != 0;
        at += (size_t)snprintf(out + at, size - at, "%s%c %lld+%lld %u.%u<%c%s", i > 0 ? ", " : "",
                               (char)item->name, (long long)item->ts,
                               open ? -1LL : (long long)item->dur, lane->major, lane->minor,
                               parent == MRD__NONE ? '-' : (char)r->items.data[parent].name,
                               (item->flags & MRD__SLICE_OVERLAP) != 0 ? "!" : "");
    }
}

/* Events as text: "B10a E20 X5+3b": phase, time, duration of an X, name. */
static kit_items parse(const char *text)
{
    kit_items items = {0};
    while (*text != '\0') {
        char phase = *text++;
        int64_t ts = strtoll(text, (char **)&text, 10);
        int64_t dur = *text == '+' ? strtoll(text, (char **)&text, 10) : 0;
        uint32_t name = *text != ' ' && *text != '\0' ? (uint32_t)*text++ : 0;
        kit_add(&items,
                phase == 'X'   ? MRD__COMPLETE
                : phase == 'B' ? MRD__BEGIN
                               : MRD__END,
                ts, dur, name);
        while (*text == ' ')
            text++;
    }
    return items;
}

static void expect(const char *events, const char *slices, uint64_t overlaps, uint64_t misplaced,
                   uint64_t unmatched)
{
    kit_items items = parse(events);
    kit_result r = kit_run(&items, false);
    char got[2048];
    describe(&r, got, sizeof got);
    assert_string_equal(got, slices);
    assert_int_equal(kit_found_count(&r.found, MRD__LOSS_OVERLAPPING_COMPLETE_EVENTS), overlaps);
    assert_int_equal(kit_found_count(&r.found, MRD__LOSS_MISPLACED_END), misplaced);
    assert_int_equal(kit_found_count(&r.found, MRD__LOSS_UNMATCHED_END), unmatched);
    kit_result_free(&r);
    kit_free(&items);
}

static void test_pairs(void **state)
{
    (void)state;
    expect("B10a E20", "a 10+10 0.0<-", 0, 0, 0);
    expect("B10a B12b E15 E20", "a 10+10 0.0<-, b 12+3 0.1<a", 0, 0, 0);
    expect("B10a", "a 10+-1 0.0<-", 0, 0, 0);
    expect("E5a B10a E20b E30a", "a 10+20 0.0<-", 0, 0, 2);
    /* An outer end cuts what began earlier; its later end is stray. */
    expect("B10a B20b E30a E40b B50c E60", "a 10+20 0.0<-, b 20+10 0.1<a, c 50+10 0.0<-", 0, 1, 1);
    /* Not when the inner end stands at the same time. */
    expect("B10a B20b E30a E30b", "a 10+20 0.0<-, b 20+10 0.1<a", 0, 0, 0);
    /* What began at the end's very time moves out beside it. */
    expect("B10a B20b E20a E30b", "a 10+10 0.0<-, b 20+10 0.0<-", 0, 0, 0);
    expect("B10a B20b E20a E30b X1+1x", "x 1+1 0.0<-, a 10+10 0.0<-, b 20+10 0.0<-", 0, 0, 0);
    /* Recursion: an unnamed end closes the innermost. */
    expect("B1a B2a E3a E4a", "a 1+3 0.0<-, a 2+1 0.1<a", 0, 0, 0);
}

static void test_equal_times(void **state)
{
    (void)state;
    expect("B10a E20a B20b B20c E30c E30b B40d E40d",
           "a 10+10 0.0<-, b 20+10 0.0<-, c 20+10 0.1<b, d 40+0 0.0<-", 0, 0, 0);
    expect("X100+10i X100+25o X200+5a X200+5b",
           "o 100+25 0.0<-, i 100+10 0.1<o, a 200+5 0.0<-, b 200+5 0.1<a", 0, 0, 0);
    expect("X7+0a X7+0b", "a 7+0 0.0<-, b 7+0 0.1<a", 0, 0, 0);
    expect("B7a E7a B7b E7b", "a 7+0 0.0<-, b 7+0 0.0<-", 0, 0, 0);
    expect("B7a B7b E7b E7a", "a 7+0 0.0<-, b 7+0 0.1<a", 0, 0, 0);
    expect("B7a B7b E7a E9b", "a 7+0 0.0<-, b 7+2 0.0<-", 0, 0, 0);
    /* X and B at one time: the longer is the parent whatever the file says. */
    expect("X5+3x B5b E20b", "b 5+15 0.0<-, x 5+3 0.1<b", 0, 0, 0);
    expect("B5b X5+20x E8b", "x 5+20 0.0<-, b 5+3 0.1<x", 0, 0, 0);
    /* Empty ones keep their place in the file, X among X stand behind. */
    expect("B5e E5e B5b E9b", "e 5+0 0.0<-, b 5+4 0.0<-", 0, 0, 0);
    expect("B5b B5e E5e E9b", "b 5+4 0.0<-, e 5+0 0.1<b", 0, 0, 0);
    expect("X5+0e X5+4x", "x 5+4 0.0<-, e 5+0 0.1<x", 0, 0, 0);
    expect("X5+0e B5b E9b X5+2x", "b 5+4 0.0<-, x 5+2 0.1<b, e 5+0 0.2<x", 0, 0, 0);
}

static void test_overlaps(void **state)
{
    (void)state;
    expect("X10+4a X13+2b X14+3c", "a 10+4 0.0<-, b 13+2 1.0<-!, c 14+3 0.0<-", 1, 0, 0);
    /* The main rows go on as if the spilled one were not there. */
    expect("X0+10a X5+10b X6+3c X11+2d", "a 0+10 0.0<-, b 5+10 1.0<-!, c 6+3 0.1<a, d 11+2 0.0<-",
           1, 0, 0);
    expect("X1+4a X3+4b X4+5c X5+1d", "a 1+4 0.0<-, b 3+4 1.0<-!, c 4+5 2.0<-!, d 5+1 0.0<-", 2, 0,
           0);
    /* What spills inside a spilled one nests there. */
    expect("X0+10a X5+20b X6+14c X8+4d", "a 0+10 0.0<-, b 5+20 1.0<-!, c 6+14 1.1<b!, d 8+4 1.2<c!",
           3, 0, 0);
    /* Inside a common parent. */
    expect("X0+100p X10+10a X15+10b X30+5c",
           "p 0+100 0.0<-, a 10+10 0.1<p, b 15+10 1.0<-!, c 30+5 0.1<p", 1, 0, 0);
    expect("X0+10a X1+11b X2+12c X13+5d",
           "a 0+10 0.0<-, b 1+11 1.0<-!, c 2+12 2.0<-!, d 13+5 0.0<-", 2, 0, 0);
    /* A pair and an X do not cut each other. */
    expect("X0+10x B5b E20b", "x 0+10 0.0<-, b 5+15 1.0<-!", 1, 0, 0);
    expect("X0+10x B5b", "x 0+10 0.0<-, b 5+-1 1.0<-!", 1, 0, 0);
    expect("X10+5a X15+5b X12+3i", "a 10+5 0.0<-, i 12+3 0.1<a, b 15+5 0.0<-", 0, 0, 0);
}

static void test_negative(void **state)
{
    (void)state;
    kit_items items = {0};
    kit_add(&items, MRD__COMPLETE, 10, -3, 'a');
    kit_result r = kit_run(&items, false);
    assert_int_equal(r.items.data[0].dur, 0);
    assert_int_equal(r.items.data[0].flags, MRD__SLICE_NEGATIVE_DUR);
    assert_int_equal(kit_found_count(&r.found, MRD__LOSS_NEGATIVE_DURATION), 1);
    kit_result_free(&r);
    kit_free(&items);
}

static void test_args_are_joined(void **state)
{
    (void)state;
    kit_items items = {0};
    kit_add(&items, MRD__BEGIN, 1, 0, 'a')->args = 7;
    kit_add(&items, MRD__BEGIN, 2, 0, 'b');
    kit_add(&items, MRD__END, 3, 0, 0)->args = 9;
    kit_add(&items, MRD__END, 4, 0, 0)->args = 5;
    mrd__item *place = kit_add(&items, MRD__BEGIN, 5, 0, 'c');
    place->args = 33;
    place->marks = MRD__ITEM_PLACE;
    kit_add(&items, MRD__END, 6, 0, 0)->args = 8;
    kit_result r = kit_run(&items, false);
    assert_int_equal(r.items.data[0].args, 7005);
    assert_int_equal(r.items.data[1].args, 9);
    assert_int_equal(r.items.data[2].args, 8);
    assert_int_equal(r.items.data[2].marks & MRD__ITEM_PLACE, 0);
    kit_result_free(&r);
    kit_free(&items);
}

/* ---- Straight reading of the rules ---- */

typedef struct plain {
    int64_t start, end;          /* INT64_MAX open */
    uint32_t order, name, close; /* close: order of the E of an empty pair, else UINT32_MAX */
    bool complete, solid;
    uint32_t parent, group, depth;
    bool spilled;
} plain;

typedef struct plain_list {
    plain slices[256];
    uint32_t count;
    uint64_t misplaced, unmatched;
} plain_list;

static int by_time(const void *left, const void *right)
{
    const mrd__item *a = left;
    const mrd__item *b = right;
    if (a->ts != b->ts) return a->ts < b->ts ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

/* A B's life: 0 open, 1 closed, 2 cut at `end` and waiting for an E at that time. */
static void plain_pairs(const kit_items *items, plain_list *out)
{
    kit_items sorted = kit_copy(items);
    if (sorted.count > 0) qsort(sorted.data, sorted.count, sizeof *sorted.data, by_time);
    uint8_t life[256] = {0};
    for (uint32_t i = 0; i < sorted.count; i++) {
        const mrd__item *e = &sorted.data[i];
        plain *s = out->slices;
        if (e->phase != MRD__END) {
            bool complete = e->phase == MRD__COMPLETE;
            life[out->count] = complete ? 1 : 0;
            s[out->count++] = (plain){.start = e->ts,
                                      .end = complete ? e->ts + e->dur : INT64_MAX,
                                      .order = e->order,
                                      .name = e->name,
                                      .close = UINT32_MAX,
                                      .complete = complete};
            continue;
        }
        int64_t cut = -1;
        for (int64_t k = (int64_t)out->count - 1; k >= 0 && cut < 0; k--)
            if (life[k] == 2 && s[k].end == e->ts && e->name != 0 && s[k].name == e->name) cut = k;
        if (cut >= 0) {
            life[cut] = 1;
            out->misplaced--;
            continue;
        }
        int64_t hit = -1;
        for (int64_t k = (int64_t)out->count - 1; k >= 0 && hit < 0; k--)
            if (life[k] == 0 && (e->name == 0 || e->name == s[k].name)) hit = k;
        if (hit < 0) {
            out->unmatched++;
            continue;
        }
        for (uint32_t k = (uint32_t)hit; k < out->count; k++) {
            if (life[k] != 0 || (k > hit && s[k].start == e->ts)) continue;
            life[k] = k == hit ? 1 : 2;
            s[k].end = e->ts;
            if (s[k].end == s[k].start) s[k].close = e->order;
            if (k > hit) out->misplaced++;
        }
    }
    kit_free(&sorted);
}

static bool stands_first(const plain *a, const plain *b)
{
    if (a->end != b->end) return a->end > b->end;
    return a->order < b->order;
}

/* Order at equal start: solid ones longest first, each empty one behind the last solid one that
 * precedes it in the file (or is an X like it). */
static void plain_order(plain_list *list)
{
    plain out[256];
    uint32_t count = 0;
    for (uint32_t from = 0; from < list->count;) {
        uint32_t to = from;
        while (to < list->count && list->slices[to].start == list->slices[from].start)
            to++;
        uint32_t solid[256];
        uint32_t solids = 0;
        for (uint32_t i = from; i < to; i++) {
            list->slices[i].solid = list->slices[i].end > list->slices[i].start;
            if (!list->slices[i].solid) continue;
            uint32_t at = solids++;
            for (; at > 0 && stands_first(&list->slices[i], &list->slices[solid[at - 1]]); at--)
                solid[at] = solid[at - 1];
            solid[at] = i;
        }
        for (uint32_t k = 0; k <= solids; k++) {
            for (uint32_t i = from; i < to; i++) {
                const plain *empty = &list->slices[i];
                if (empty->solid) continue;
                uint32_t place = 0;
                for (uint32_t j = 0; j < solids; j++) {
                    const plain *s = &list->slices[solid[j]];
                    if ((s->complete && empty->complete) || s->order < empty->order) place = j + 1;
                }
                if (place == k) out[count++] = *empty;
            }
            if (k < solids) out[count++] = list->slices[solid[k]];
        }
        from = to;
    }
    memcpy(list->slices, out, count * sizeof *out);
}

static bool plain_contains(const plain *u, const plain *v)
{
    if (u->solid) return u->end > v->start && u->end >= v->end;
    if (v->solid || u->start != v->start) return false;
    if (u->complete) return true;
    return v->order < u->close && (v->complete || v->close <= u->close);
}

/* Slice k holds slice i: an empty one only until one that is not empty starts at its time. */
static bool plain_holds(const plain_list *list, uint32_t k, uint32_t i)
{
    const plain *u = &list->slices[k];
    if (!u->solid)
        for (uint32_t between = k + 1; between < i; between++)
            if (list->slices[between].solid) return false;
    return plain_contains(u, &list->slices[i]);
}

/* The innermost slice of a group that is still open when slice i starts. */
static uint32_t plain_top(const plain_list *list, uint32_t i, uint32_t group)
{
    uint32_t top = UINT32_MAX;
    for (uint32_t k = 0; k < i; k++) {
        const plain *u = &list->slices[k];
        if (u->group != group) continue;
        if (u->end > list->slices[i].start || plain_holds(list, k, i)) top = k;
    }
    return top;
}

static void plain_nest(plain_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        plain *v = &list->slices[i];
        uint32_t top = plain_top(list, i, 0);
        v->parent = UINT32_MAX;
        v->spilled = top != UINT32_MAX && !plain_holds(list, top, i);
        if (!v->spilled) {
            if (top != UINT32_MAX) {
                v->parent = top;
                v->depth = list->slices[top].depth + 1;
            }
            continue;
        }
        /* The latest started spilled one that contains v, when nothing in its group is in the way;
         * else the lowest group where all have ended. */
        uint32_t holder = UINT32_MAX;
        for (uint32_t k = 0; k < i; k++)
            if (list->slices[k].spilled && plain_holds(list, k, i)) holder = k;
        if (holder != UINT32_MAX && plain_top(list, i, list->slices[holder].group) == holder) {
            v->parent = holder;
            v->group = list->slices[holder].group;
            v->depth = list->slices[holder].depth + 1;
            continue;
        }
        bool busy = true;
        for (v->group = 0; busy;) {
            v->group++;
            busy = false;
            for (uint32_t k = 0; k < i; k++)
                if (list->slices[k].group == v->group && list->slices[k].end > v->start)
                    busy = true;
        }
    }
}

static void compare(const kit_items *items)
{
    kit_result r = kit_run(items, false);
    static plain_list want;
    memset(&want, 0, sizeof want);
    plain_pairs(items, &want);
    plain_order(&want);
    plain_nest(&want);
    uint64_t spilled = 0;
    assert_int_equal(r.items.count, want.count);
    for (uint32_t i = 0; i < want.count; i++) {
        const plain *w = &want.slices[i];
        const mrd__item *got = &r.items.data[i];
        const mrd__lane *lane = &r.nested.lanes.data[r.nested.lane[i]];
        assert_int_equal(got->order, w->order);
        assert_int_equal(mrd__item_end(got), w->end);
        assert_int_equal(r.nested.parent[i], w->parent);
        assert_int_equal(lane->major, w->group);
        assert_int_equal(lane->minor, w->depth);
        assert_int_equal((got->flags & MRD__SLICE_OVERLAP) != 0, w->spilled);
        spilled += w->spilled;
    }
    assert_int_equal(kit_found_count(&r.found, MRD__LOSS_OVERLAPPING_COMPLETE_EVENTS), spilled);
    assert_int_equal(kit_found_count(&r.found, MRD__LOSS_MISPLACED_END), want.misplaced);
    assert_int_equal(kit_found_count(&r.found, MRD__LOSS_UNMATCHED_END), want.unmatched);
    kit_result_free(&r);
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30000; seed++) {
        mrd__rng rng = {seed};
        kit_items items = {0};
        uint32_t count = 1 + (uint32_t)mrd__rng_below(&rng, seed % 50 == 0 ? 150 : 12);
        uint64_t span = 1 + mrd__rng_below(&rng, count * 2);
        uint64_t kinds = 1 + mrd__rng_below(&rng, 3);
        for (uint32_t i = 0; i < count; i++) {
            static const uint8_t phases[] = {MRD__COMPLETE, MRD__BEGIN, MRD__END};
            uint8_t phase = phases[(mrd__rng_below(&rng, kinds) + seed) % 3];
            int64_t ts = (int64_t)mrd__rng_below(&rng, span);
            int64_t dur = phase == MRD__COMPLETE ? (int64_t)mrd__rng_below(&rng, span) : 0;
            kit_add(&items, phase, ts, dur, (uint32_t)mrd__rng_below(&rng, 3));
        }
        compare(&items);
        kit_free(&items);
    }
}

/* Sorting: shuffled, nearly sorted, many equal times; against qsort. */
/* Ends that match nothing, by name or by category, are told so without a walk through 10^5 open
 * slices; and so are those behind as many cut ones. */
static void test_work_of_strays(void **state)
{
    (void)state;
    enum {
        OPEN = 100000
    };
    kit_items items = {0};
    for (int64_t i = 0; i < OPEN; i++)
        kit_add(&items, MRD__BEGIN, i, 0, 1 + (uint32_t)(i % 1000))->category = 5;
    for (int64_t i = 0; i < OPEN; i++)
        kit_add(&items, MRD__END, OPEN, 0, 2000);
    for (int64_t i = 0; i < OPEN; i++)
        kit_add(&items, MRD__END, OPEN, 0, 7)->category = 6;
    kit_result r = kit_run(&items, false);
    assert_int_equal(kit_found_count(&r.found, MRD__LOSS_UNMATCHED_END), 2 * OPEN);
    assert_true(r.found.found.steps < 1000);
    kit_result_free(&r);
    /* The outermost ends and cuts all others; then strays at that very time. */
    kit_add(&items, MRD__BEGIN, OPEN + 1, 0, 3000);
    for (int64_t i = 0; i < OPEN; i++)
        kit_add(&items, MRD__BEGIN, OPEN + 2 + i, 0, 4000 + (uint32_t)(i % 1000));
    for (int64_t i = 0; i <= OPEN; i++)
        kit_add(&items, MRD__END, 3 * OPEN, 0, i == 0 ? 3000 : 6000);
    r = kit_run(&items, false);
    assert_int_equal(kit_found_count(&r.found, MRD__LOSS_UNMATCHED_END), 3 * OPEN);
    assert_int_equal(kit_found_count(&r.found, MRD__LOSS_MISPLACED_END), OPEN);
    assert_true(r.found.found.steps < 2 * OPEN);
    kit_result_free(&r);
    kit_free(&items);
}

static void test_sort(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        mrd__rng rng = {seed};
        kit_items items = {0};
        uint32_t count = (uint32_t)mrd__rng_below(&rng, 3000);
        uint64_t span = seed % 3 == 0 ? 5 : seed % 3 == 1 ? UINT64_MAX : 100000;
        for (uint32_t i = 0; i < count; i++) {
            int64_t ts = (int64_t)mrd__rng_below(&rng, span);
            if (seed % 5 == 0) ts = i * 10 + (int64_t)mrd__rng_below(&rng, 40);
            kit_add(&items, MRD__COMPLETE, ts, 0, 0);
        }
        kit_items want = kit_copy(&items);
        if (count > 0) qsort(want.data, count, sizeof *want.data, by_time);
        mrd__items_sort(items.data, count);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(items.data[i].order, want.data[i].order);
        kit_free(&items);
        kit_free(&want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),           cmocka_unit_test(test_equal_times),
        cmocka_unit_test(test_overlaps),        cmocka_unit_test(test_negative),
        cmocka_unit_test(test_args_are_joined), cmocka_unit_test(test_work_of_strays),
        cmocka_unit_test(test_random),          cmocka_unit_test(test_sort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
