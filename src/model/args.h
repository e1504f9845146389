/* Args references: where the text of an event's args lies, and the union of two of them. */
#ifndef MRD_MODEL_ARGS_H
#define MRD_MODEL_ARGS_H

#include "model/facts.h"

/* High 16 bits: the source, a file's index or MRD__ARGS_BLOB | a block's index; low 48 bits:
 * offset + 1 of the '{'. */
#define MRD__ARGS_BLOB 0x8000u

static inline mrd__args_ref mrd__args_make(uint32_t source, uint64_t offset_plus_one)
{
    return (uint64_t)source << 48 | offset_plus_one;
}
static inline uint32_t mrd__args_source(mrd__args_ref ref)
{
    return (uint32_t)(ref >> 48);
}
static inline uint64_t mrd__args_offset(mrd__args_ref ref)
{
    return (ref & 0xFFFFFFFFFFFFull) - 1;
}

/* What references point into. Borrowed. */
typedef struct mrd__args_room {
    const mrd__file *files;
    size_t file_count;
    const mrd__text_blob *blobs;
    size_t blob_count;
} mrd__args_room;

/* The whole JSON object behind a reference, borrowed; empty for 0 and when the text is not an
 * object (any more). */
mrd__str mrd__args_text(const mrd__args_room *room, mrd__args_ref ref);
/* Levels that a union goes down; below, the second object stands for both. */
#define MRD__ARGS_MERGE_DEPTH 64
/* Append the union of two JSON objects: objects under equal keys are united, of other values the
 * second wins. */
void mrd__args_merge(mrd__buf *out, mrd__str first, mrd__str second);

#endif
