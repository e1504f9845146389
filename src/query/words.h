/* Words of an answer: store indices (strings or tracks) numbered by first use, so that dictionaries
 * hold what the answer uses and no more. */
#ifndef MRD_QUERY_WORDS_H
#define MRD_QUERY_WORDS_H

#include "arrow/arrow.h"
#include "model/store.h"

typedef struct mrd__words {
    uint32_t *code;          /* [size] at least: code + 1, 0 unused */
    size_t size;             /* items */
    MRD__VEC(uint32_t) used; /* code to index */
    MRD__VEC(mrd__str) text; /* filled by mrd__words_of_* */
    mrd__buf bytes;
} mrd__words;

/* Indices below size will be asked for. One thread at a time. */
void mrd__words_init(mrd__words *words, size_t size);
void mrd__words_reset(mrd__words *words); /* accepts zeroed */
static inline int32_t mrd__words_code(mrd__words *words, uint32_t index)
{
    if (words->code[index] == 0) {
        mrd__vec_push(&words->used, index);
        words->code[index] = (uint32_t)words->used.count;
    }
    return (int32_t)(words->code[index] - 1);
}
/* The words themselves, valid until words is reset: the store's strings, or indices in decimal. */
mrd__arrow_dict mrd__words_of_strings(mrd__words *words, const mrd__store *store);
mrd__arrow_dict mrd__words_of_numbers(mrd__words *words);

#endif
