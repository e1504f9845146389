#include "session/format/merkle.h"

#include "base/assert.h"

#include <string.h>

enum {
    WHOLE = 1024, /* bytes of a leaf that are hashed as one piece: most records */
};

void mrd__merkle_leaf(const void *record, size_t size, uint8_t out[32])
{
    uint8_t head[WHOLE]; /* the prefix, and the record or its beginning */
    size_t first = size < sizeof head - 1 ? size : sizeof head - 1;
    head[0] = 0;
    memcpy(head + 1, record, first);
    mrd__sha256 hash;
    mrd__sha256_begin(&hash);
    mrd__sha256_add(&hash, head, 1 + first);
    mrd__sha256_add(&hash, (const uint8_t *)record + first, size - first);
    mrd__sha256_end(&hash, out);
}

static void join(const uint8_t left[32], const uint8_t right[32], uint8_t out[32])
{
    uint8_t node[65];
    node[0] = 1;
    memcpy(node + 1, left, 32);
    memcpy(node + 33, right, 32);
    mrd__sha256 hash;
    mrd__sha256_begin(&hash);
    mrd__sha256_add(&hash, node, sizeof node);
    mrd__sha256_end(&hash, out);
}

/* Counting in binary: a carry joins two full subtrees. */
void mrd__merkle_add(mrd__merkle *tree, const uint8_t leaf[32])
{
    uint8_t carry[32];
    memcpy(carry, leaf, 32);
    unsigned level = 0;
    for (; tree->count >> level & 1; level++)
        join(tree->edge[level], carry, carry);
    memcpy(tree->edge[level], carry, 32);
    tree->count++;
}

void mrd__merkle_root(const mrd__merkle *tree, uint8_t out[32])
{
    if (tree->count == 0) {
        mrd__sha256 hash;
        mrd__sha256_begin(&hash);
        mrd__sha256_end(&hash, out);
        return;
    }
    bool begun = false;
    for (unsigned level = 0; level < 64; level++) {
        if (!(tree->count >> level & 1)) continue;
        if (begun)
            join(tree->edge[level], out, out);
        else
            memcpy(out, tree->edge[level], 32);
        begun = true;
    }
}

static void root_of(const uint8_t (*leaves)[32], uint64_t count, uint8_t out[32])
{
    mrd__merkle tree = {0};
    for (uint64_t i = 0; i < count; i++)
        mrd__merkle_add(&tree, leaves[i]);
    mrd__merkle_root(&tree, out);
}

/* The largest power of two below count; count > 1. */
static uint64_t split_of(uint64_t count)
{
    return (uint64_t)1 << (63 - __builtin_clzll(count - 1));
}

void mrd__merkle_prove(const uint8_t (*leaves)[32], uint64_t count, uint64_t index,
                       mrd__merkle_proof *proof)
{
    mrd__assert(index < count);
    *proof = (mrd__merkle_proof){.index = index, .count = count};
    /* From the top down: the sibling of each step, then turned round. */
    while (count > 1) {
        uint64_t split = split_of(count);
        bool right = index >= split;
        const uint8_t(*sibling)[32] = right ? leaves : leaves + split;
        root_of(sibling, right ? split : count - split, proof->path[proof->length++]);
        if (right) {
            leaves += split;
            index -= split;
        }
        count = right ? count - split : split;
    }
    for (unsigned low = 0, high = proof->length; low + 1 < high; low++) {
        uint8_t kept[32];
        high--;
        memcpy(kept, proof->path[low], 32);
        memcpy(proof->path[low], proof->path[high], 32);
        memcpy(proof->path[high], kept, 32);
    }
}

/* RFC 9162, 2.1.3.2. */
bool mrd__merkle_check(const mrd__merkle_proof *proof, const uint8_t leaf[32],
                       const uint8_t root[32])
{
    if (proof->index >= proof->count || proof->length > 64) return false;
    uint64_t at = proof->index;
    uint64_t last = proof->count - 1;
    uint8_t hash[32];
    memcpy(hash, leaf, 32);
    for (unsigned i = 0; i < proof->length; i++) {
        if (last == 0) return false;
        if ((at & 1) || at == last) {
            join(proof->path[i], hash, hash);
            while (!(at & 1) && at != 0) {
                at >>= 1;
                last >>= 1;
            }
        } else {
            join(hash, proof->path[i], hash);
        }
        at >>= 1;
        last >>= 1;
    }
    return last == 0 && memcmp(hash, root, 32) == 0;
}
