#include "base/alloc.h"
#include "base/assert.h"

#include <errno.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static _Noreturn void exhausted(size_t size)
{
    fprintf(stderr, "meridian: memory exhausted (asked for %zu bytes)\n", size);
    fflush(stderr);
    abort();
}

/* Page faults are dear in a virtual machine: 13 us for each 4 KiB (measured), 124 us for a huge
 * page of 2 MiB, 0.8 us for each 4 KiB that one call asks for. So large blocks ask for huge pages
 * (which also lets searches in columns of gigabytes miss the TLB less), and middling ones, and what
 * a large block has before its first and behind its last huge page, are made present at once.
 * Advice only: a kernel that knows neither changes nothing. */
#define HUGE_PAGE ((size_t)2 << 20)
#define HUGE_FROM (HUGE_PAGE / 2)
#define PRESENT_FROM ((size_t)32 << 10) /* below, the call costs more than the few faults */
#define SMALL_PAGE ((uintptr_t)4096)    /* larger ones are refused, which is no harm */

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

static void make_present(uintptr_t from, uintptr_t to)
{
    from = (from + SMALL_PAGE - 1) & ~(SMALL_PAGE - 1);
    to &= ~(SMALL_PAGE - 1);
    int saved = errno;
    if (from < to) (void)madvise((void *)from, to - from, MADV_POPULATE_WRITE);
    errno = saved;
}

static void *advise(void *block, size_t size)
{
    if (size < PRESENT_FROM) return block;
    uintptr_t from = (uintptr_t)block, to = from + size;
    uintptr_t first = (from + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
    uintptr_t last = to & ~(HUGE_PAGE - 1);
    if (size < HUGE_FROM || first >= last) {
        if (size <= HUGE_PAGE) make_present(from, to);
        return block;
    }
    (void)madvise((void *)first, last - first, MADV_HUGEPAGE);
    make_present(from, first);
    make_present(last, to);
    return block;
}

void *mrd__alloc(size_t size)
{
    void *block = malloc(size > 0 ? size : 1);
    if (block == NULL) exhausted(size);
    return advise(block, size);
}

void *mrd__calloc(size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) exhausted(SIZE_MAX);
    bool middling = total >= PRESENT_FROM && total < HUGE_FROM;
    void *block = middling ? malloc(total) : calloc(total > 0 ? count : 1, total > 0 ? size : 1);
    if (block == NULL) exhausted(total);
    advise(block, total);
    return middling ? memset(block, 0, total) : block; /* not before its pages are present */
}

void *mrd__realloc(void *block, size_t size)
{
    void *moved = realloc(block, size > 0 ? size : 1);
    if (moved == NULL) exhausted(size);
    return advise(moved, size);
}

void mrd__free(void *block)
{
    free(block);
}

char *mrd__strndup(const char *text, size_t size)
{
    mrd__assert(size < SIZE_MAX);
    char *copy = mrd__alloc(size + 1);
    if (size > 0) memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

/* ---- Pages ---- */

/* Whole huge pages from half a one on: the kernel puts a mapping on a huge page's border only when
 * its size is a whole number of them, and the last one costs less than the small ones of a part. */
static size_t whole_pages(size_t size)
{
    if (size > SIZE_MAX - HUGE_PAGE) exhausted(size);
    size_t page = size >= HUGE_FROM ? HUGE_PAGE : (size_t)sysconf(_SC_PAGESIZE);
    return (size + page - 1) & ~(page - 1);
}

static void *map_pages(size_t size)
{
    char *block = mmap(NULL, whole_pages(size), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED) exhausted(size);
    return block;
}

/* So many bytes, a whole number of small pages. */
static void unmap_range(void *at, size_t size)
{
    int rc = munmap(at, size);
    mrd__assert(rc == 0);
}

static void unmap_pages(void *block, size_t size)
{
    unmap_range(block, whole_pages(size));
}

void *mrd__pages_alloc(size_t size)
{
    return size == 0 ? NULL : advise(map_pages(size), whole_pages(size));
}

void *mrd__pages_reserve(size_t size)
{
    return size == 0 ? NULL : map_pages(size);
}

void mrd__pages_free(void *block, size_t size)
{
    if (block != NULL) unmap_pages(block, size);
}

/* ---- Pages used again ----
 *
 * A page that the kernel hands out is cleared; in a virtual machine it is often not even there
 * before its first use, and entered into one more table at its first use at an address: 1 to 10 us
 * for each 4 KiB, by one processor at a time. So what one step has done with is kept where it is,
 * neighbours joined, and the next step's memory is cut out of it. */

typedef struct range {
    char *at;
    size_t size;
} range;

static struct {
    pthread_mutex_t lock;
    MRD__VEC(range) ranges; /* by address, none touches the next */
    size_t size;            /* of all */
    uint32_t users;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void lock_kept(void)
{
    int rc = pthread_mutex_lock(&kept.lock);
    mrd__assert(rc == 0);
}

static void unlock_kept(void)
{
    int rc = pthread_mutex_unlock(&kept.lock);
    mrd__assert(rc == 0);
}

static void drop_range(size_t index)
{
    kept.ranges.count--;
    for (size_t i = index; i < kept.ranges.count; i++)
        kept.ranges.data[i] = kept.ranges.data[i + 1];
}

static void add_range(char *at, size_t size)
{
    size_t index = kept.ranges.count;
    while (index > 0 && kept.ranges.data[index - 1].at > at)
        index--;
    range *list = kept.ranges.data;
    bool before = index > 0 && list[index - 1].at + list[index - 1].size == at;
    bool after = index < kept.ranges.count && at + size == list[index].at;
    kept.size += size;
    if (before) {
        list[index - 1].size += size + (after ? list[index].size : 0);
        if (after) drop_range(index);
        return;
    }
    if (after) {
        list[index] = (range){at, size + list[index].size};
        return;
    }
    mrd__vec_push(&kept.ranges, ((range){at, size}));
    for (size_t i = kept.ranges.count - 1; i > index; i--)
        kept.ranges.data[i] = kept.ranges.data[i - 1];
    kept.ranges.data[index] = (range){at, size};
}

/* From the front of the smallest range that holds it; NULL without one. */
static void *cut_range(size_t size)
{
    size_t best = kept.ranges.count;
    for (size_t i = 0; i < kept.ranges.count; i++)
        if (kept.ranges.data[i].size >= size &&
            (best == kept.ranges.count || kept.ranges.data[i].size < kept.ranges.data[best].size))
            best = i;
    if (best == kept.ranges.count) return NULL;
    range *own = &kept.ranges.data[best];
    char *block = own->at;
    kept.size -= size;
    *own = (range){block + size, own->size - size};
    if (own->size == 0) drop_range(best);
    return block;
}

void *mrd__pages_take(size_t size)
{
    if (size < PRESENT_FROM) return mrd__pages_alloc(size);
    lock_kept();
    void *block = cut_range(whole_pages(size));
    unlock_kept();
    return block != NULL ? block : mrd__pages_alloc(size);
}

void mrd__pages_give(void *block, size_t size)
{
    if (block == NULL) return;
    size = whole_pages(size);
    lock_kept();
    bool keep = size >= PRESENT_FROM && (kept.users > 0 || kept.size + size <= MRD__PAGES_KEPT);
    if (keep) add_range(block, size);
    unlock_kept();
    if (!keep) unmap_range(block, size);
}

void mrd__pages_keep(void)
{
    lock_kept();
    kept.users++;
    unlock_kept();
}

void mrd__pages_done(void)
{
    lock_kept();
    mrd__assert(kept.users > 0);
    kept.users--;
    while (kept.users == 0 && kept.size > MRD__PAGES_KEPT) {
        range *last = &kept.ranges.data[kept.ranges.count - 1];
        size_t over = kept.size - MRD__PAGES_KEPT;
        size_t cut = over < last->size ? over : last->size;
        unmap_range(last->at + last->size - cut, cut); /* a part: not rounded to huge pages */
        last->size -= cut;
        kept.size -= cut;
        if (last->size == 0) kept.ranges.count--;
    }
    unlock_kept();
}

void mrd__pages_warm(void)
{
    lock_kept();
    size_t size = kept.size < MRD__PAGES_KEPT ? MRD__PAGES_KEPT - kept.size : 0;
    unlock_kept();
    if (size >= HUGE_FROM) size &= ~(HUGE_PAGE - 1); /* rounded up it would not be kept */
    char *block = mrd__pages_alloc(size);
    for (size_t at = 0; at < size; at += SMALL_PAGE)
        *((volatile char *)block + at) = 0;
    mrd__pages_give(block, size);
}

void *mrd__vec_grow(void *data, size_t *capacity, size_t need, size_t item)
{
    size_t used = *capacity * item;
    size_t grown = *capacity < 8 ? 8 : *capacity + *capacity / 2;
    if (grown < need) grown = need;
    size_t bytes;
    if (__builtin_mul_overflow(grown, item, &bytes)) exhausted(SIZE_MAX);
    *capacity = grown;
    if (data == NULL || bytes < PRESENT_FROM || bytes >= HUGE_FROM)
        return mrd__realloc(data, bytes);
    /* The C library would copy into pages that are not there yet. */
    void *moved = mrd__alloc(bytes);
    memcpy(moved, data, used);
    mrd__free(data);
    return moved;
}

/* ---- Arena ---- */

#define ARENA_FIRST ((size_t)4 << 10)
#define ARENA_LARGEST                                                                              \
    ((size_t)1 << 20) /* blocks double up to here; larger requests get their own */

struct mrd__arena_block {
    struct mrd__arena_block *next;
    size_t capacity;
    alignas(max_align_t) char data[];
};

static struct mrd__arena_block *arena_block(size_t capacity)
{
    size_t bytes;
    if (__builtin_add_overflow(capacity, sizeof(struct mrd__arena_block), &bytes))
        exhausted(SIZE_MAX);
    struct mrd__arena_block *block = mrd__alloc(bytes);
    block->next = NULL;
    block->capacity = capacity;
    return block;
}

void *mrd__arena_alloc(mrd__arena *arena, size_t size, size_t align)
{
    mrd__assert(align > 0 && (align & (align - 1)) == 0 && align <= 4096);
    struct mrd__arena_block *head = arena->head;
    if (head != NULL) {
        uintptr_t base = (uintptr_t)head->data;
        size_t at = ((base + arena->used + align - 1) & ~(uintptr_t)(align - 1)) - base;
        if (at <= head->capacity && size <= head->capacity - at) {
            arena->used = at + size;
            arena->total += size;
            return head->data + at;
        }
    }
    size_t need;
    if (__builtin_add_overflow(size, align, &need)) exhausted(SIZE_MAX);
    size_t capacity = head == NULL ? ARENA_FIRST : head->capacity * 2;
    if (capacity > ARENA_LARGEST) capacity = ARENA_LARGEST;
    arena->total += size;
    if (head != NULL && need > capacity / 2) {
        /* A large piece gets a block of its own behind the head, whose rest stays usable. */
        struct mrd__arena_block *own = arena_block(need);
        own->next = head->next;
        head->next = own;
        uintptr_t base = (uintptr_t)own->data;
        return own->data + (((base + align - 1) & ~(uintptr_t)(align - 1)) - base);
    }
    struct mrd__arena_block *block = arena_block(capacity > need ? capacity : need);
    block->next = head;
    arena->head = block;
    uintptr_t base = (uintptr_t)block->data;
    size_t at = ((base + align - 1) & ~(uintptr_t)(align - 1)) - base;
    arena->used = at + size;
    return block->data + at;
}

char *mrd__arena_text(mrd__arena *arena, const char *text, size_t size)
{
    mrd__assert(size < SIZE_MAX);
    char *copy = mrd__arena_alloc(arena, size + 1, 1);
    if (size > 0) memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

void mrd__arena_reset(mrd__arena *arena)
{
    struct mrd__arena_block *block = arena->head;
    while (block != NULL) {
        struct mrd__arena_block *next = block->next;
        mrd__free(block);
        block = next;
    }
    *arena = (mrd__arena){0};
}
