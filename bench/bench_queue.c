/* Event queues of simulators, hold model: pop the least, push one later. The one of src/sim against
 * a plain 4-ary heap and a calendar queue whose buckets append equal times at their end.
 *
 * usage: bench_queue [quick|full]
 * Loads: `ties` are synchronous chips, all events of a round at one time; `mixed` three in four at
 * a constant distance, one anywhere; `none` anywhere. All queues must give the same sequence. */
#include "base/alloc.h"
#include "base/os.h"
#include "sim/queue.h"

#include <stdio.h>
#include <string.h>

#define HOLDS 4000000

/* ---- A plain heap ---- */

typedef struct heap {
    __uint128_t *keys; /* time 64 | order 64 */
    size_t count, capacity;
    uint64_t order;
} heap;

static void heap_push(heap *h, uint64_t time)
{
    if (h->count == h->capacity)
        h->keys = mrd__vec_grow(h->keys, &h->capacity, h->count + 1, sizeof *h->keys);
    __uint128_t key = (__uint128_t)time << 64 | h->order++;
    size_t at = h->count++;
    for (size_t up; at > 0 && h->keys[up = (at - 1) / 4] > key; at = up)
        h->keys[at] = h->keys[up];
    h->keys[at] = key;
}

static uint64_t heap_pop(heap *h)
{
    __uint128_t top = h->keys[0], key = h->keys[--h->count];
    size_t at = 0;
    for (;;) {
        size_t child = at * 4 + 1, end = child + 4 < h->count ? child + 4 : h->count;
        if (child >= h->count) break;
        size_t least = child;
        for (size_t i = child + 1; i < end; i++)
            if (h->keys[i] < h->keys[least]) least = i;
        if (key <= h->keys[least]) break;
        h->keys[at] = h->keys[least];
        at = least;
    }
    h->keys[at] = key;
    return (uint64_t)(top >> 64);
}

/* ---- A calendar: a year of buckets of fixed width, each a sorted list ---- */

typedef struct day {
    uint64_t time;
    uint32_t next;
} day;

typedef struct calendar {
    day *days;
    uint32_t *heads, *tails;
    uint32_t free, buckets;
    uint64_t width, now;
    size_t count;
} calendar;

static void calendar_open(calendar *c, uint32_t pending, uint64_t width)
{
    c->buckets = 16;
    while (c->buckets < 2 * pending)
        c->buckets *= 2;
    c->width = width ? width : 1;
    c->days = mrd__new_array(day, pending + 1);
    c->heads = mrd__new_array(uint32_t, c->buckets);
    c->tails = mrd__new_array(uint32_t, c->buckets);
    for (uint32_t i = pending; i > 0; i--) {
        c->days[i].next = c->free;
        c->free = i;
    }
}

static void calendar_push(calendar *c, uint64_t time)
{
    uint32_t at = c->free, bucket = (uint32_t)(time / c->width) & (c->buckets - 1);
    c->free = c->days[at].next;
    c->days[at] = (day){time, 0};
    uint32_t *link = &c->heads[bucket];
    if (*link && c->days[c->tails[bucket]].time <= time)
        link = &c->days[c->tails[bucket]].next; /* equal and later times in one step */
    while (*link && c->days[*link].time <= time)
        link = &c->days[*link].next;
    c->days[at].next = *link;
    if (!*link) c->tails[bucket] = at;
    *link = at;
    c->count++;
}

static uint64_t calendar_pop(calendar *c)
{
    uint64_t year = c->now / c->width;
    for (uint32_t i = 0;; i++, year++) {
        uint32_t *head = &c->heads[(uint32_t)year & (c->buckets - 1)];
        bool due = *head && c->days[*head].time / c->width == year;
        if (!due && i >= c->buckets) { /* nothing this year: the least of all buckets */
            uint64_t least = UINT64_MAX;
            for (uint32_t b = 0; b < c->buckets; b++)
                if (c->heads[b] && c->days[c->heads[b]].time < least)
                    least = c->days[c->heads[b]].time;
            year = least / c->width - 1;
            i = 0;
            continue;
        }
        if (!due) continue;
        uint32_t at = *head;
        *head = c->days[at].next;
        c->days[at].next = c->free;
        c->free = at;
        c->count--;
        return c->now = c->days[at].time;
    }
}

/* ---- Loads ---- */

enum {
    TIES,
    MIXED,
    NONE
};

static uint64_t step(int load, mrd__rng *rng)
{
    if (load == TIES) return 81920;
    if (load == MIXED && mrd__rng_below(rng, 4)) return 81920;
    return mrd__rng_below(rng, 163840);
}

static uint64_t first(int load, mrd__rng *rng)
{
    return load == TIES ? mrd__rng_below(rng, 8) * 10240 : mrd__rng_below(rng, 163840);
}

typedef struct measured {
    double rate; /* million holds a second */
    uint64_t sum;
} measured;

#define MEASURE(push, pop)                                                                         \
    do {                                                                                           \
        mrd__rng rng = {1};                                                                        \
        uint64_t sum = 0;                                                                          \
        for (uint32_t i = 0; i < pending; i++)                                                     \
            push(first(load, &rng));                                                               \
        uint64_t start = mrd__monotonic_ns();                                                      \
        for (uint32_t i = 0; i < HOLDS; i++) {                                                     \
            uint64_t time = pop;                                                                   \
            sum = sum * 31 + time;                                                                 \
            push(time + step(load, &rng));                                                         \
        }                                                                                          \
        m.rate = HOLDS / ((double)(mrd__monotonic_ns() - start) / 1e3);                            \
        m.sum = sum;                                                                               \
    } while (0)

static measured run(int kind, int load, uint32_t pending)
{
    measured m = {0};
    heap h = {0};
    calendar c = {0};
    mrd__sim_queue q = {0};
    calendar_open(&c, pending, 163840 / pending);
#define HEAP_PUSH(t) heap_push(&h, t)
#define CALENDAR_PUSH(t) calendar_push(&c, t)
#define QUEUE_PUSH(t) mrd__sim_queue_push(&q, t, 0, 1, 1)
    if (kind == 0) MEASURE(HEAP_PUSH, heap_pop(&h));
    if (kind == 1) MEASURE(CALENDAR_PUSH, calendar_pop(&c));
    if (kind == 2) MEASURE(QUEUE_PUSH, mrd__sim_key_time(mrd__sim_queue_pop(&q)));
    mrd__free(h.keys);
    mrd__free(c.days);
    mrd__free(c.heads);
    mrd__free(c.tails);
    mrd__sim_queue_reset(&q);
    return m;
}

int main(int argc, char **argv)
{
    static const char *const loads[] = {"ties", "mixed", "none"};
    uint32_t most = argc > 1 && strcmp(argv[1], "full") == 0 ? 100000 : 10000;
    int wrong = 0;
    printf("million holds a second\n\n| load | pending | 4-ary heap | calendar | src/sim |\n"
           "|---|---|---|---|---|\n");
    for (int load = TIES; load <= NONE; load++)
        for (uint32_t pending = 100; pending <= most; pending *= 10) {
            measured m[3];
            for (int kind = 0; kind < 3; kind++)
                m[kind] = run(kind, load, pending);
            printf("| %s | %u | %.1f | %.1f | %.1f |\n", loads[load], pending, m[0].rate, m[1].rate,
                   m[2].rate);
            wrong |= m[0].sum != m[1].sum || m[0].sum != m[2].sum;
        }
    if (wrong) fputs("the queues do not agree\n", stderr);
    return wrong;
}
