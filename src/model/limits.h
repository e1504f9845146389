/* Limits of the model, in one place, with the reason for each. */
#ifndef MRD_MODEL_LIMITS_H
#define MRD_MODEL_LIMITS_H

/* Bytes of one block of a shard's facts: large enough that a block is rarely asked for, small
 * enough that the unused rest of the last one does not matter (it is never touched). */
#define MRD__FACT_BLOCK_BYTES ((size_t)4 << 20)

/* The same for side records (ids of async and flow events): one huge page. */
#define MRD__SIDE_BLOCK_BYTES ((size_t)2 << 20)

/* Facts of one trace: ranks and slice ids are 32 bit, UINT32_MAX means none. */
#define MRD__FACTS_MAX 4294967294u

/* Input files of one trace: an args reference has 15 bits for the file. */
#define MRD__FILES_MAX 32767u

/* Blocks of owned args text of one trace: 15 bits as well. Blocks double up to the largest, so
 * that the smallest text costs little and the largest still fits. */
#define MRD__BLOBS_MAX 32767u
#define MRD__BLOB_FIRST ((size_t)64 << 10)
#define MRD__BLOB_LARGEST ((size_t)256 << 20)

/* Drawn lines of one track (mrd__row.line and .depth are 16 bit); what lies deeper is dropped and
 * counted as depth_limit. Real traces reach some hundreds. */
#define MRD__LINES_MAX 65535u

#endif
