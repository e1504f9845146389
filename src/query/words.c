#include "query/words.h"

#include <pthread.h>
#include <string.h>

/* Zeroed arrays kept between answers: an answer touches few entries of a large array, and a fresh
 * page for each costs more than everything else. What was used is set back to zero. */
#define KEPT 8                        /* three an answer */
#define KEPT_BYTES ((size_t)64 << 20) /* a larger array (of 16 million strings) is not kept */
#define LEAST_ITEMS ((size_t)4096)

typedef struct zeroed {
    uint32_t *data;
    size_t size;
} zeroed;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static zeroed shelf[KEPT];
static size_t shelf_count;

static zeroed take(size_t size)
{
    zeroed found = {0};
    pthread_mutex_lock(&lock);
    for (size_t i = shelf_count; i-- > 0;) {
        if (shelf[i].size < size) continue;
        found = shelf[i];
        shelf[i] = shelf[--shelf_count];
        break;
    }
    pthread_mutex_unlock(&lock);
    if (found.data != NULL) return found;
    if (size < LEAST_ITEMS) size = LEAST_ITEMS;
    return (zeroed){mrd__pages_alloc(size * sizeof(uint32_t)), size};
}

static void give(zeroed old)
{
    pthread_mutex_lock(&lock);
    if (old.size * sizeof(uint32_t) <= KEPT_BYTES && shelf_count < KEPT) {
        shelf[shelf_count++] = old;
        old.data = NULL;
    }
    for (size_t i = 0; old.data != NULL && i < shelf_count; i++) {
        if (shelf[i].size >= old.size || old.size * sizeof(uint32_t) > KEPT_BYTES) continue;
        zeroed smaller = shelf[i]; /* a smaller one makes room */
        shelf[i] = old;
        old = smaller;
        break;
    }
    pthread_mutex_unlock(&lock);
    if (old.data != NULL) mrd__pages_free(old.data, old.size * sizeof(uint32_t));
}

void mrd__words_init(mrd__words *words, size_t size)
{
    zeroed memory = take(size);
    *words = (mrd__words){.code = memory.data, .size = memory.size};
}

void mrd__words_reset(mrd__words *words)
{
    for (size_t i = 0; i < words->used.count; i++)
        words->code[words->used.data[i]] = 0;
    if (words->code != NULL) give((zeroed){words->code, words->size});
    mrd__vec_reset(&words->used);
    mrd__vec_reset(&words->text);
    mrd__buf_reset(&words->bytes);
    *words = (mrd__words){0};
}

static mrd__str get_word(const void *ctx, size_t index)
{
    return ((const mrd__str *)ctx)[index];
}

static mrd__arrow_dict dict_of(const mrd__words *words)
{
    return (mrd__arrow_dict){words->text.count, get_word, words->text.data};
}

mrd__arrow_dict mrd__words_of_strings(mrd__words *words, const mrd__store *store)
{
    for (size_t i = 0; i < words->used.count; i++)
        mrd__vec_push(&words->text, mrd__store_str(store, words->used.data[i]));
    return dict_of(words);
}

mrd__arrow_dict mrd__words_of_numbers(mrd__words *words)
{
    for (size_t i = 0; i < words->used.count; i++) {
        size_t from = words->bytes.size;
        mrd__buf_uint(&words->bytes, words->used.data[i]);
        mrd__vec_push(&words->text, ((mrd__str){NULL, words->bytes.size - from}));
    }
    size_t at = 0; /* the bytes no longer move */
    for (size_t i = 0; i < words->text.count; i++) {
        words->text.data[i].data = words->bytes.data + at;
        at += words->text.data[i].size;
    }
    return dict_of(words);
}
