/* The only door to the heap. These never return NULL: when memory is exhausted the program prints
 * one line and aborts (docs/architecture.md, "Memory exhaustion"); sizes that come from input are
 * checked against named limits before they get here. Thread-safe. */
#ifndef MRD_BASE_ALLOC_H
#define MRD_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

void *mrd__alloc(size_t size);                /* uninitialized; size 0 gives a valid pointer */
void *mrd__calloc(size_t count, size_t size); /* zeroed, overflow checked */
void *mrd__realloc(void *block, size_t size);
void mrd__free(void *block);                       /* accepts NULL */
char *mrd__strndup(const char *text, size_t size); /* NUL-terminated copy */

/* Large page-aligned memory straight from the kernel, zeroed, lazily backed. size 0 gives NULL.
 * Use for columns: untouched pages cost nothing. */
void *mrd__pages_alloc(size_t size);
/* The same for tables of which little is ever touched: no page is made before its use, and then a
 * small one. Freed like the others. */
void *mrd__pages_reserve(size_t size);
void mrd__pages_free(void *block, size_t size);
/* Memory like that of mrd__pages_alloc whose bytes are undefined: what was given is used again,
 * which saves finding and clearing pages. Freed or given like the others, wherever it came from,
 * whole and with the size that it was taken with. */
void *mrd__pages_take(size_t size);
void mrd__pages_give(void *block, size_t size);
/* From keep to done (they nest, in any thread) all that is given is kept, after that as much as
 * a small file takes. */
#define MRD__PAGES_KEPT ((size_t)96 << 20)
void mrd__pages_keep(void);
void mrd__pages_done(void);
/* Make as much ahead of time, for a program that will open files. Any thread. */
void mrd__pages_warm(void);

#define mrd__new(type) ((type *)mrd__calloc(1, sizeof(type)))
#define mrd__new_array(type, count) ((type *)mrd__calloc((count), sizeof(type)))

/* Growable arrays: `struct { T *data; size_t count, capacity; }`. Zeroed is empty. */
#define MRD__VEC(type)                                                                             \
    struct {                                                                                       \
        type *data;                                                                                \
        size_t count, capacity;                                                                    \
    }
void *mrd__vec_grow(void *data, size_t *capacity, size_t need, size_t item);
#define mrd__vec_reserve(vec, n)                                                                   \
    ((n) > (vec)->capacity ? (void)((vec)->data = mrd__vec_grow((vec)->data, &(vec)->capacity,     \
                                                                (n), sizeof *(vec)->data))         \
                           : (void)0)
#define mrd__vec_push(vec, value)                                                                  \
    do {                                                                                           \
        mrd__vec_reserve((vec), (vec)->count + 1);                                                 \
        (vec)->data[(vec)->count++] = (value);                                                     \
    } while (0)
#define mrd__vec_reset(vec)                                                                        \
    do {                                                                                           \
        mrd__free((vec)->data);                                                                    \
        (vec)->data = NULL;                                                                        \
        (vec)->count = (vec)->capacity = 0;                                                        \
    } while (0)

/* Bump allocator; everything is freed in one stroke. Not thread-safe. Zeroed is empty. */
typedef struct mrd__arena {
    struct mrd__arena_block *head;
    size_t used, total; /* total: bytes handed out, for memory reports */
} mrd__arena;
void *mrd__arena_alloc(mrd__arena *arena, size_t size, size_t align);
char *mrd__arena_text(mrd__arena *arena, const char *text, size_t size); /* NUL-terminated */
void mrd__arena_reset(mrd__arena *arena);

#endif
