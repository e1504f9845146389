/* Last steps of sealing about time: bounds and default view, origin, ranks, doubles in place.
 *
 * Default view. Some writers leave stray times (0, 1970, far future) beside real ones. The view is
 * fitted to the populated part when that is clear beyond doubt: a part of the trace that holds more
 * than half of all events, and on each side either nothing or a gap that is
 *   - at least 1,000 times as long as the populated part and at least 60 s, or
 *   - where everything before it stands at exactly 0: at least 100 times and 10 s.
 * What lies outside counts as timestamp_outliers. The rule is applied again to what is left, so
 * that strays of different magnitudes do not hide each other.
 *
 * Several files: their clocks may have nothing in common, and a window over all of them would show
 * each as less than a few pixels. A gap of 50 lengths and a second is enough there, and where no
 * part holds more than half, the fullest is the view; nothing counts as an outlier then. */
#include "open/sealing.h"

#include "base/sort.h"

#define VIEW_BUCKETS 4096
#define VIEW_WINDOW 48 /* buckets that a part of 1/100 of the range can touch, and some */
#define VIEW_ROUNDS 8
#define GAP_TIMES 1000
#define GAP_NS 60000000000ull
#define FILES_GAP_TIMES 50
#define FILES_GAP_NS 1000000000ull
#define ZERO_GAP_TIMES 100
#define ZERO_GAP_NS 10000000000ull
#define PART_LEAST_NS 1000ull /* a single event has no length */
#define ORIGIN_STEP ((int64_t)1 << 20)
#define EXACT_MAX 9007199254740992ull /* 2^53 */

/* ---- Default view ---- */

typedef struct series {
    const double *start, *end; /* exact ns; end NULL for points */
    uint64_t count;
} series;

static int64_t series_end(const series *s, uint64_t i)
{
    int64_t start = mrd__column_get(s->start, i);
    if (s->end == NULL) return start;
    int64_t end = mrd__column_get(s->end, i);
    return end == INT64_MAX ? start : end;
}

static uint64_t distance(int64_t from, int64_t to)
{
    return (uint64_t)to - (uint64_t)from;
}

/* The part [from, to] of the starts, and what lies beside it. */
typedef struct part {
    int64_t from, to;   /* starts */
    uint64_t count;     /* events that start inside */
    int64_t start, end; /* first start and last end of these */
    bool before, after; /* there is something */
    bool files;         /* several, maybe of unrelated clocks */
    int64_t before_start, before_end, after_start;
} part;

static void measure(const series *all, part *p)
{
    p->count = 0;
    p->start = INT64_MAX;
    p->end = INT64_MIN;
    p->before = p->after = false;
    p->before_start = INT64_MAX;
    p->before_end = INT64_MIN;
    p->after_start = INT64_MAX;
    for (size_t s = 0; s < 3; s++) {
        for (uint64_t i = 0; i < all[s].count; i++) {
            int64_t start = mrd__column_get(all[s].start, i);
            int64_t end = series_end(&all[s], i);
            if (start < p->from) {
                p->before = true;
                if (start < p->before_start) p->before_start = start;
                if (end > p->before_end) p->before_end = end;
            } else if (start > p->to) {
                p->after = true;
                if (start < p->after_start) p->after_start = start;
            } else {
                p->count++;
                if (start < p->start) p->start = start;
                if (end > p->end) p->end = end;
            }
        }
    }
}

/* The fullest window of buckets over the starts in [from, to]. */
static part fullest(const series *all, int64_t from, int64_t to)
{
    uint64_t *held = mrd__new_array(uint64_t, VIEW_BUCKETS);
    uint64_t width = distance(from, to) / VIEW_BUCKETS + 1;
    for (size_t s = 0; s < 3; s++) {
        for (uint64_t i = 0; i < all[s].count; i++) {
            int64_t start = mrd__column_get(all[s].start, i);
            if (start >= from && start <= to) held[distance(from, start) / width]++;
        }
    }
    uint64_t sum = 0;
    uint64_t best = 0;
    uint32_t best_end = 0;
    for (uint32_t b = 0; b < VIEW_BUCKETS; b++) {
        sum += held[b];
        if (b >= VIEW_WINDOW) sum -= held[b - VIEW_WINDOW];
        if (sum > best) {
            best = sum;
            best_end = b;
        }
    }
    uint32_t first = best_end >= VIEW_WINDOW ? best_end - VIEW_WINDOW + 1 : 0;
    uint64_t last_offset = (uint64_t)(best_end + 1) * width - 1;
    if (last_offset > distance(from, to)) last_offset = distance(from, to);
    part p = {.from = (int64_t)((uint64_t)from + first * width),
              .to = (int64_t)((uint64_t)from + last_offset)};
    mrd__free(held);
    return p;
}

static bool gap_is_huge(uint64_t gap, uint64_t length, bool zero, bool files)
{
    if (length < PART_LEAST_NS) length = PART_LEAST_NS;
    uint64_t times = files ? FILES_GAP_TIMES : zero ? ZERO_GAP_TIMES : GAP_TIMES;
    uint64_t least = files ? FILES_GAP_NS : zero ? ZERO_GAP_NS : GAP_NS;
    return gap >= least && gap / times >= length;
}

/* Take strays off one or both sides; false when the part does not stand alone. */
static bool stands_alone(const part *p)
{
    if (!p->before && !p->after) return false;
    if (p->count == 0 || p->end < p->start) return false;
    uint64_t length = distance(p->start, p->end);
    if (p->before) {
        bool zero = p->before_start == 0 && p->before_end == 0;
        if (p->before_end >= p->start) return false;
        if (!gap_is_huge(distance(p->before_end, p->start), length, zero, p->files)) return false;
    }
    if (p->after) {
        if (p->after_start <= p->end) return false;
        if (!gap_is_huge(distance(p->end, p->after_start), length, false, p->files)) return false;
    }
    return true;
}

/* The part with one of its sides given up: everything there belongs to it. */
static bool try_sides(const series *all, part *p, int64_t from, int64_t to)
{
    measure(all, p);
    if (stands_alone(p)) return true;
    part left = *p;
    left.to = to;
    part right = *p;
    right.from = from;
    measure(all, &left);
    measure(all, &right);
    if (stands_alone(&left) && (left.count >= right.count || !stands_alone(&right))) {
        *p = left;
        return true;
    }
    if (!stands_alone(&right)) return false;
    *p = right;
    return true;
}

static void count_outliers(mrd__sealing *seal, const part *p)
{
    const mrd__store *store = seal->store;
    mrd__found *found = &seal->worker[0].found;
    const mrd__slices *s = &store->slices;
    for (uint64_t i = 0; i < s->count; i++) {
        int64_t at = mrd__column_get(s->start, i);
        if (at >= p->from && at <= p->to) continue;
        mrd__item item = {.name = s->name[i], .order = s->order[i], .args = s->args[i]};
        mrd__found_add(found, MRD__LOSS_TIMESTAMP_OUTLIERS, &item);
    }
    for (uint64_t i = 0; i < store->instants.count; i++) {
        int64_t at = mrd__column_get(store->instants.time, i);
        if (at >= p->from && at <= p->to) continue;
        mrd__item item = {.name = store->instants.name[i],
                          .order = store->instants.order[i],
                          .args = store->instants.args[i]};
        mrd__found_add(found, MRD__LOSS_TIMESTAMP_OUTLIERS, &item);
    }
    for (uint64_t i = 0; i < store->counters.count; i++) {
        int64_t at = mrd__column_get(store->counters.time, i);
        if (at >= p->from && at <= p->to) continue;
        mrd__item item = {.order = store->counters.order[i]};
        mrd__found_add(found, MRD__LOSS_TIMESTAMP_OUTLIERS, &item);
    }
}

/* Runs before the ranks: order still holds the facts' places in the files. */
void mrd__seal_view(mrd__sealing *seal)
{
    mrd__store *store = seal->store;
    store->empty = !seal->any;
    if (!seal->any) return;
    store->start_ns = store->view_start_ns = seal->start;
    store->end_ns = store->view_end_ns = seal->end;
    uint64_t range = distance(seal->start, seal->end);
    bool files = store->file_count > 1;
    if (range < (files ? FILES_GAP_NS : ZERO_GAP_NS)) return;
    const series all[3] = {{store->slices.start, store->slices.end, store->slices.count},
                           {store->instants.time, NULL, store->instants.count},
                           {store->counters.time, NULL, store->counters.count}};
    uint64_t total = all[0].count + all[1].count + all[2].count;
    part kept = {.from = INT64_MIN, .to = INT64_MAX};
    int64_t from = seal->start;
    int64_t to = seal->end;
    for (int round = 0; round < VIEW_ROUNDS; round++) {
        part p = fullest(all, from, to);
        p.files = files;
        bool alone = try_sides(all, &p, from, to);
        bool most = p.count * 2 > total;
        if (!alone || (!most && !files)) break;
        from = store->view_start_ns = p.start;
        to = store->view_end_ns = p.end;
        if (!most) break;
        kept = p;
    }
    if (kept.from != INT64_MIN || kept.to != INT64_MAX) count_outliers(seal, &kept);
}

/* ---- Ranks ---- */

/* order[i], a place in the files, becomes the place among the column's own in file order: a bit for
 * every place that is taken, and how many are taken before each word of bits. Each worker has a
 * part of the column and bits of its own, which are then put together in the first's. */
typedef struct filing {
    const double *time;
    uint32_t *order;
    uint64_t count;
    size_t words;
    uint32_t parts;
    uint64_t *present;   /* [parts * words] */
    uint32_t *before;    /* [words] */
    mrd__sort_key *keys; /* [count] in file order, to be filled; NULL: not wanted */
} filing;

static void mark_part(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    const filing *f = ctx;
    uint64_t *present = f->present + index * f->words;
    uint64_t end = f->count * (index + 1) / f->parts;
    for (uint64_t i = f->count * index / f->parts; i < end; i++)
        present[f->order[i] / 64] |= 1ull << f->order[i] % 64;
}

static void rank_part(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    const filing *f = ctx;
    uint64_t end = f->count * (index + 1) / f->parts;
    for (uint64_t i = f->count * index / f->parts; i < end; i++) {
        uint32_t order = f->order[i];
        uint64_t below = f->present[order / 64] & ((1ull << order % 64) - 1);
        uint32_t rank = f->before[order / 64] + (uint32_t)__builtin_popcountll(below);
        f->order[i] = rank;
        if (f->keys == NULL) continue;
        f->keys[rank] = (mrd__sort_key){mrd__sort_signed(mrd__column_get(f->time, i)), (uint32_t)i};
    }
}

static void rank_by_file(uint32_t workers, uint64_t facts, filing *f)
{
    f->words = (size_t)(facts / 64 + 1);
    f->present = mrd__new_array(uint64_t, f->parts * f->words);
    f->before = mrd__alloc(f->words * sizeof *f->before);
    mrd__parallel_for(workers, f->parts, mark_part, f);
    uint32_t sum = 0;
    for (size_t w = 0; w < f->words; w++) {
        for (uint32_t p = 1; p < f->parts; p++)
            f->present[w] |= f->present[p * f->words + w];
        f->before[w] = sum;
        sum += (uint32_t)__builtin_popcountll(f->present[w]);
    }
    mrd__parallel_for(workers, f->parts, rank_part, f);
    mrd__free(f->before);
    mrd__free(f->present);
}

/* The rest of the way to the rank in (time, file order): the keys stand in file order, cut into one
 * run a worker; each run is sorted, then walks beside the others to see how many of them stand
 * before each of its own. */
typedef struct ranking {
    mrd__sort_key *room, *other; /* [count] each */
    mrd__sort_key **sorted;      /* [runs] where a run lies, in room or other */
    uint64_t count;
    uint32_t runs;
    uint32_t *order;
} ranking;

static uint64_t run_first(const ranking *r, uint64_t run)
{
    return r->count * run / r->runs;
}

static void sort_run(void *ctx, size_t run, uint32_t worker)
{
    (void)worker;
    ranking *r = ctx;
    uint64_t first = run_first(r, run);
    r->sorted[run] =
        mrd__radix_sort(r->room + first, r->other + first, run_first(r, run + 1) - first);
}

static void rank_run(void *ctx, size_t run, uint32_t worker)
{
    (void)worker;
    ranking *r = ctx;
    uint64_t own = run_first(r, run + 1) - run_first(r, run);
    uint64_t *passed = mrd__new_array(uint64_t, r->runs);
    for (uint64_t i = 0; i < own; i++) {
        const mrd__sort_key *key = &r->sorted[run][i];
        uint64_t rank = i;
        for (uint64_t b = 0; b < r->runs; b++) {
            if (b == run) continue;
            const mrd__sort_key *beside = r->sorted[b];
            uint64_t end = run_first(r, b + 1) - run_first(r, b);
            /* Of equal times those of earlier runs stand first. */
            while (passed[b] < end && (beside[passed[b]].key < key->key ||
                                       (b < run && beside[passed[b]].key == key->key)))
                passed[b]++;
            rank += passed[b];
        }
        r->order[key->index] = (uint32_t)rank;
    }
    mrd__free(passed);
}

#define RANK_ALONE 65536 /* keys that one worker sorts faster than several start */

/* Ranks by file order; where time does not follow it, keys for the rest of the way as well. */
static void file_column(const mrd__sealing *seal, uint32_t workers, const double *time,
                        uint32_t *order, uint64_t count, bool sorted, ranking *r)
{
    *r = (ranking){.count = count, .order = order};
    if (count == 0) return;
    filing f = {.time = time, .order = order, .count = count};
    f.parts = count < RANK_ALONE ? 1 : workers;
    if (!sorted) f.keys = r->room = mrd__seal_pages(workers, 2 * count * sizeof *r->room);
    rank_by_file(workers, seal->facts, &f);
}

static void sort_column(uint32_t workers, ranking *r)
{
    if (r->room == NULL) return;
    r->runs = r->count < RANK_ALONE ? 1 : workers;
    r->other = r->room + r->count;
    r->sorted = mrd__new_array(mrd__sort_key *, r->runs);
    mrd__parallel_for(workers, r->runs, sort_run, r);
    mrd__parallel_for(workers, r->runs, rank_run, r);
    mrd__free(r->sorted);
    mrd__pages_give(r->room, 2 * r->count * sizeof *r->room);
}

/* Slices by file order, the others to the end. */
static void begin_ranks(mrd__sealing *seal, uint32_t workers, ranking *slices)
{
    mrd__store *store = seal->store;
    ranking r;
    file_column(seal, workers, store->instants.time, store->instants.order, store->instants.count,
                seal->sorted_instants, &r);
    sort_column(workers, &r);
    file_column(seal, workers, store->counters.time, store->counters.order, store->counters.count,
                seal->sorted_counters, &r);
    sort_column(workers, &r);
    file_column(seal, workers, store->slices.start, store->slices.order, store->slices.count,
                seal->sorted_slices, slices);
}

typedef struct beside {
    mrd__sealing *seal;
    uint32_t workers; /* of each side */
    ranking slices;
} beside;

static void flows_or_ranks(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    beside *b = ctx;
    if (index == 0)
        mrd__seal_flows(b->seal, b->workers);
    else
        begin_ranks(b->seal, b->workers, &b->slices);
}

#define FLOWS_BESIDE                                                                               \
    32 /* facts a flow point, above which flows are too little for half the workers */

void mrd__seal_flows_and_ranks(mrd__sealing *seal)
{
    bool both = seal->points.count > seal->facts / FLOWS_BESIDE;
    beside b = {.seal = seal, .workers = both ? (seal->workers + 1) / 2 : seal->workers};
    mrd__parallel_for(both ? seal->workers : 1, 2, flows_or_ranks, &b);
    sort_column(seal->workers, &b.slices);
}

/* ---- Doubles ---- */

static bool is_far(int64_t time, int64_t origin)
{
    uint64_t away = time >= origin ? distance(origin, time) : distance(time, origin);
    return away > EXACT_MAX;
}

typedef MRD__VEC(mrd__exact) exact_vec;

static void keep_exact(mrd__exact_list *list, const double *start, const double *end,
                       uint64_t count, int64_t origin)
{
    exact_vec kept = {0};
    for (uint64_t i = 0; i < count; i++) {
        int64_t from = mrd__column_get(start, i);
        int64_t to = end != NULL ? mrd__column_get(end, i) : from;
        if (!is_far(from, origin) && !is_far(to, origin)) continue;
        mrd__vec_push(&kept, ((mrd__exact){i, from, to}));
    }
    list->data = kept.data;
    list->count = kept.count;
}

typedef struct converting {
    double *column;
    uint64_t count;
    int64_t origin;
} converting;

#define CONVERT_AT_ONCE ((uint64_t)1 << 16)

static double relative(int64_t time, int64_t origin)
{
    int64_t difference;
    if (__builtin_sub_overflow(time, origin, &difference)) return (double)((__int128)time - origin);
    return (double)difference;
}

static void convert_part(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    converting *c = ctx;
    uint64_t end =
        (index + 1) * CONVERT_AT_ONCE < c->count ? (index + 1) * CONVERT_AT_ONCE : c->count;
    for (uint64_t i = index * CONVERT_AT_ONCE; i < end; i++)
        c->column[i] = relative(mrd__column_get(c->column, i), c->origin);
}

static void convert(mrd__sealing *seal, double *column, uint64_t count)
{
    converting c = {column, count, seal->store->origin_ns};
    mrd__parallel_for(seal->workers, (size_t)((count + CONVERT_AT_ONCE - 1) / CONVERT_AT_ONCE),
                      convert_part, &c);
}

void mrd__seal_doubles(mrd__sealing *seal)
{
    mrd__store *store = seal->store;
    mrd__slices *slices = &store->slices;
    bool records_alone = store->events != NULL && !seal->any;
    if (!records_alone)
        store->origin_ns = store->view_start_ns & ~(ORIGIN_STEP - 1); /* floor, negatives too */
    if (store->unclosed > 0)
        for (uint64_t i = 0; i < slices->count; i++)
            if ((slices->flags[i] & MRD__SLICE_UNCLOSED) != 0)
                mrd__column_set(slices->end, i, store->end_ns);
    if (is_far(store->start_ns, store->origin_ns) || is_far(store->end_ns, store->origin_ns)) {
        keep_exact(&store->exact_slices, slices->start, slices->end, slices->count,
                   store->origin_ns);
        keep_exact(&store->exact_instants, store->instants.time, NULL, store->instants.count,
                   store->origin_ns);
        keep_exact(&store->exact_counters, store->counters.time, NULL, store->counters.count,
                   store->origin_ns);
    }
    convert(seal, slices->start, slices->count);
    convert(seal, slices->end, slices->count);
    convert(seal, store->instants.time, store->instants.count);
    convert(seal, store->counters.time, store->counters.count);
    for (size_t i = 0; i < store->flow_count; i++) {
        mrd__flow *flow = &store->flows[i];
        flow->from_time = relative(mrd__column_get(&flow->from_time, 0), store->origin_ns);
        flow->to_time = relative(mrd__column_get(&flow->to_time, 0), store->origin_ns);
    }
}
