/* A Merkle tree over records, as Certificate Transparency has it (RFC 6962): a leaf is
 * SHA-256(0x00, bytes of the record), a node SHA-256(0x01, left, right); n leaves are split at the
 * largest power of two below n. Leaves come one after the other; only the right edge is kept. */
#ifndef MRD_SESSION_FORMAT_MERKLE_H
#define MRD_SESSION_FORMAT_MERKLE_H

#include "base/sha256.h"

#include <stdbool.h>

typedef struct mrd__merkle {
    uint64_t count;
    uint8_t edge[64][32]; /* bit k of count set: the root of a full subtree of 2^k leaves */
} mrd__merkle;            /* a plain value; zeroed is empty */

void mrd__merkle_leaf(const void *record, size_t size, uint8_t out[32]);
void mrd__merkle_add(mrd__merkle *tree, const uint8_t leaf[32]);
/* The root; of no leaves it is SHA-256 of nothing. */
void mrd__merkle_root(const mrd__merkle *tree, uint8_t out[32]);

/* A proof that one leaf is in the tree: siblings from the leaf up. */
typedef struct mrd__merkle_proof {
    uint64_t index, count;
    uint8_t path[64][32];
    unsigned length;
} mrd__merkle_proof;
/* The proof for leaves[index] of count leaves of 32 bytes each. index < count. */
void mrd__merkle_prove(const uint8_t (*leaves)[32], uint64_t count, uint64_t index,
                       mrd__merkle_proof *proof);
/* True when leaf at proof->index of proof->count leaves leads to root. */
bool mrd__merkle_check(const mrd__merkle_proof *proof, const uint8_t leaf[32],
                       const uint8_t root[32]);

#endif
