/*   slices of A   (lane, name, dur) ... sorted     groups of A  (lane, name): count, total, median
 *   slices of B   the same                         groups of B
 *                                                  merged by (lane, name): matched, or in one alone
 *
 * Lanes and names of both are numbered together by their texts, so that sorting by numbers groups
 * alike in both. */
#include "export/diff.h"

#include "base/alloc.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- Texts of both traces, numbered ---- */

typedef struct texts {
    MRD__VEC(mrd__str) list;
    uint32_t *slots; /* number + 1, open addressing */
    size_t slot_count;
    mrd__arena bytes;
} texts;

static void grow(texts *t)
{
    size_t count = t->slot_count == 0 ? 1024 : t->slot_count * 2;
    mrd__free(t->slots);
    t->slots = mrd__new_array(uint32_t, count);
    t->slot_count = count;
    for (uint32_t i = 0; i < t->list.count; i++) {
        size_t at = mrd__hash(t->list.data[i].data, t->list.data[i].size) & (count - 1);
        while (t->slots[at] != 0)
            at = (at + 1) & (count - 1);
        t->slots[at] = i + 1;
    }
}

static uint32_t number_of(texts *t, mrd__str text)
{
    if (t->list.count * 2 >= t->slot_count) grow(t);
    size_t at = mrd__hash(text.data, text.size) & (t->slot_count - 1);
    for (; t->slots[at] != 0; at = (at + 1) & (t->slot_count - 1)) {
        if (mrd__str_equal(t->list.data[t->slots[at] - 1], text)) return t->slots[at] - 1;
    }
    mrd__str copy = {mrd__arena_text(&t->bytes, text.data, text.size), text.size};
    mrd__vec_push(&t->list, copy);
    t->slots[at] = (uint32_t)t->list.count;
    return (uint32_t)t->list.count - 1;
}

static void reset_texts(texts *t)
{
    mrd__vec_reset(&t->list);
    mrd__free(t->slots);
    mrd__arena_reset(&t->bytes);
}

/* ---- One trace ---- */

typedef struct item {
    uint32_t lane, name;
    int64_t dur;
} item;

typedef struct group {
    uint32_t lane, name;
    uint64_t count;
    double total;
    int64_t median;
} group;

typedef struct side {
    MRD__VEC(group) groups;
} side;

static int by_group(const void *left, const void *right)
{
    const item *a = left;
    const item *b = right;
    if (a->lane != b->lane) return a->lane < b->lane ? -1 : 1;
    if (a->name != b->name) return a->name < b->name ? -1 : 1;
    return (a->dur > b->dur) - (a->dur < b->dur);
}

static void add_name(mrd__buf *out, const mrd__store *store, mrd__str_id name, const char *what,
                     uint32_t place)
{
    if (out->size > 0) mrd__buf_text(out, " / ");
    if (name != 0)
        mrd__buf_str(out, mrd__store_str(store, name));
    else
        mrd__buf_printf(out, "%s %u", what, place + 1);
}

/* "process / thread / track"; ids mean nothing from one run to the next. */
static uint32_t lane_of(texts *lanes, const mrd__store *store, uint32_t id, mrd__buf *scratch)
{
    const mrd__track *track = &store->tracks[id];
    mrd__str_id own = track->name;
    mrd__buf_clear(scratch);
    if (track->process != MRD__NONE) {
        mrd__str_id name = store->processes[track->process].name;
        add_name(scratch, store, name, "process", track->process);
        if (name == own) own = 0;
    }
    if (track->thread != MRD__NONE) {
        const mrd__thread *thread = &store->threads[track->thread];
        uint32_t first = track->thread;
        while (first > 0 && store->threads[first - 1].process == thread->process)
            first--;
        add_name(scratch, store, thread->name, "thread", track->thread - first);
        if (thread->name == own) own = 0;
    }
    if (own != 0) add_name(scratch, store, own, "", 0);
    return number_of(lanes, (mrd__str){scratch->size > 0 ? scratch->data : "", scratch->size});
}

static void group_items(side *out, const item *items, uint64_t count)
{
    for (uint64_t i = 0; i < count;) {
        uint64_t end = i;
        group one = {.lane = items[i].lane, .name = items[i].name};
        for (; end < count && items[end].lane == one.lane && items[end].name == one.name; end++)
            one.total += (double)items[end].dur;
        one.count = end - i;
        one.median = items[i + (one.count - 1) / 2].dur;
        mrd__vec_push(&out->groups, one);
        i = end;
    }
}

static void read_side(side *out, const mrd__store *store, texts *lanes, texts *names)
{
    const mrd__slices *slices = &store->slices;
    uint32_t *name_numbers = mrd__new_array(uint32_t, store->string_count + 1);
    item *items = mrd__new_array(item, slices->count + 1);
    uint64_t count = 0;
    mrd__buf scratch = {0};
    for (uint32_t row = 0; row < store->rows.row_count; row++) {
        uint32_t lane = lane_of(lanes, store, store->row_infos[row].track, &scratch);
        for (uint64_t i = store->rows.first[row]; i < store->rows.first[row + 1]; i++) {
            if (slices->flags[i] & MRD__SLICE_UNCLOSED) continue;
            uint32_t *name = &name_numbers[slices->name[i]];
            if (*name == 0) *name = number_of(names, mrd__store_str(store, slices->name[i])) + 1;
            int64_t dur = mrd__store_slice_end(store, i) - mrd__store_slice_start(store, i);
            items[count++] = (item){lane, *name - 1, dur};
        }
    }
    qsort(items, count, sizeof *items, by_group);
    group_items(out, items, count);
    mrd__buf_reset(&scratch);
    mrd__free(items);
    mrd__free(name_numbers);
}

/* ---- Both ---- */

typedef struct change {
    group before, after; /* count 0: not there */
    double difference;
} change;
typedef MRD__VEC(change) changes;

enum {
    SLOWER,
    FASTER,
    APPEARED,
    VANISHED,
    KINDS
};
static const char *const kind_names[KINDS] = {"slower", "faster", "appeared", "vanished"};

static int by_difference(const void *left, const void *right)
{
    const change *a = left;
    const change *b = right;
    double size_a = a->difference < 0 ? -a->difference : a->difference;
    double size_b = b->difference < 0 ? -b->difference : b->difference;
    if (size_a != size_b) return size_a > size_b ? -1 : 1;
    const group *left_group = a->before.count > 0 ? &a->before : &a->after;
    const group *right_group = b->before.count > 0 ? &b->before : &b->after;
    if (left_group->lane != right_group->lane) return left_group->lane < right_group->lane ? -1 : 1;
    return (left_group->name > right_group->name) - (left_group->name < right_group->name);
}

static int order_of(const group *a, const group *b)
{
    if (a->lane != b->lane) return a->lane < b->lane ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

static void compare(const side *before, const side *after, changes *out)
{
    size_t i = 0, j = 0;
    while (i < before->groups.count || j < after->groups.count) {
        int order = i == before->groups.count ? 1
                    : j == after->groups.count
                        ? -1
                        : order_of(&before->groups.data[i], &after->groups.data[j]);
        change one = {0};
        if (order <= 0) one.before = before->groups.data[i++];
        if (order >= 0) one.after = after->groups.data[j++];
        one.difference = one.after.total - one.before.total;
        int kind = order < 0            ? VANISHED
                   : order > 0          ? APPEARED
                   : one.difference > 0 ? SLOWER
                   : one.difference < 0 ? FASTER
                                        : KINDS;
        if (kind < KINDS) mrd__vec_push(&out[kind], one);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        if (out[kind].count > 0)
            qsort(out[kind].data, out[kind].count, sizeof(change), by_difference);
    }
}

/* ---- Output ---- */

typedef struct printing {
    const texts *lanes, *names;
    mrd__buf out;
} printing;

static const group *known(const change *one)
{
    return one->before.count > 0 ? &one->before : &one->after;
}

static void pair_json(printing *p, const char *name, double before, double after)
{
    mrd__buf_printf(&p->out, ",\"%s\":[", name);
    mrd__buf_json_double(&p->out, before);
    mrd__buf_char(&p->out, ',');
    mrd__buf_json_double(&p->out, after);
    mrd__buf_char(&p->out, ']');
}

static void change_json(printing *p, const change *one)
{
    mrd__buf_text(&p->out, "{\"lane\":");
    mrd__buf_json_string(&p->out, p->lanes->list.data[known(one)->lane]);
    mrd__buf_text(&p->out, ",\"name\":");
    mrd__buf_json_string(&p->out, p->names->list.data[known(one)->name]);
    pair_json(p, "count", (double)one->before.count, (double)one->after.count);
    pair_json(p, "total_ns", one->before.total, one->after.total);
    pair_json(p, "median_ns", (double)one->before.median, (double)one->after.median);
    mrd__buf_char(&p->out, '}');
}

static void print_json(printing *p, const changes *all)
{
    for (int kind = 0; kind < KINDS; kind++) {
        mrd__buf_printf(&p->out, "%s\"%s\":[", kind == 0 ? "{" : ",", kind_names[kind]);
        for (size_t i = 0; i < all[kind].count; i++) {
            if (i > 0) mrd__buf_text(&p->out, ",\n");
            change_json(p, &all[kind].data[i]);
        }
        mrd__buf_char(&p->out, ']');
    }
    mrd__buf_text(&p->out, "}\n");
}

static void change_text(printing *p, const change *one)
{
    mrd__str lane = p->lanes->list.data[known(one)->lane];
    mrd__str name = p->names->list.data[known(one)->name];
    mrd__buf_printf(&p->out,
                    "  %+14.3f ms  %" PRIu64 " -> %" PRIu64 " times, median %.3f -> %.3f us  ",
                    one->difference * 1e-6, one->before.count, one->after.count,
                    (double)one->before.median * 1e-3, (double)one->after.median * 1e-3);
    mrd__buf_str(&p->out, name);
    mrd__buf_text(&p->out, "  (");
    mrd__buf_str(&p->out, lane);
    mrd__buf_text(&p->out, ")\n");
}

static void print_text(printing *p, const changes *all, uint64_t limit)
{
    for (int kind = 0; kind < KINDS; kind++) {
        size_t shown = all[kind].count;
        if (limit > 0 && shown > limit) shown = (size_t)limit;
        mrd__buf_printf(&p->out, "%s: %zu\n", kind_names[kind], all[kind].count);
        for (size_t i = 0; i < shown; i++)
            change_text(p, &all[kind].data[i]);
        if (shown < all[kind].count)
            mrd__buf_printf(&p->out, "  and %zu more\n", all[kind].count - shown);
    }
}

mrd_status mrd__export_diff(const mrd__store *before, const mrd__store *after, mrd_format format,
                            uint64_t limit, const mrd_sink *sink, mrd_error *error)
{
    if (format != MRD_FORMAT_TEXT && format != MRD_FORMAT_JSON)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_format", "diff is written as text or json");
    texts lanes = {0}, names = {0};
    side sides[2] = {0};
    changes all[KINDS] = {0};
    printing p = {.lanes = &lanes, .names = &names};
    read_side(&sides[0], before, &lanes, &names);
    read_side(&sides[1], after, &lanes, &names);
    compare(&sides[0], &sides[1], all);
    if (format == MRD_FORMAT_JSON)
        print_json(&p, all);
    else
        print_text(&p, all, limit);
    mrd_status status = mrd__buf_flush(&p.out, sink, error);
    mrd__buf_reset(&p.out);
    for (int kind = 0; kind < KINDS; kind++)
        mrd__vec_reset(&all[kind]);
    for (int s = 0; s < 2; s++)
        mrd__vec_reset(&sides[s].groups);
    reset_texts(&lanes);
    reset_texts(&names);
    return status;
}
