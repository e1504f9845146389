#include "open/ranks.h"

#include "base/alloc.h"
#include "model/facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NO_RANK INT64_MIN

/* The rank that a file says it is of. */
static void take_rank(const mrd__shard *shard, int64_t *ranks)
{
    for (size_t i = 0; i < shard->metadata.count; i++) {
        const mrd__raw_metadata *one = &shard->metadata.data[i];
        mrd__str key = {one->key, one->key_size};
        int64_t rank;
        if (mrd__str_is(key, "distributedInfo.rank") &&
            mrd__parse_int64((mrd__str){one->value, one->value_size}, &rank) && rank >= 0)
            ranks[shard->file] = rank;
    }
}

void mrd__name_ranks(mrd__writer *writer)
{
    size_t files = writer->files.count;
    int64_t *ranks = mrd__new_array(int64_t, files);
    for (size_t i = 0; i < files; i++)
        ranks[i] = NO_RANK;
    for (size_t s = 0; s < writer->shards.count; s++)
        take_rank(writer->shards.data[s], ranks);
    int64_t first = NO_RANK;
    bool several = false;
    for (size_t i = 0; i < files; i++) {
        if (ranks[i] == NO_RANK) continue;
        several |= first != NO_RANK && ranks[i] != first;
        first = ranks[i];
    }
    for (size_t i = 0; i < files && several; i++) {
        if (ranks[i] == NO_RANK) continue;
        char name[32];
        snprintf(name, sizeof name, "rank %" PRId64, ranks[i]);
        mrd__machine_facts facts = {.name = name, .by_name = true};
        mrd__writer_machine(writer, (uint32_t)i, 0, &facts);
    }
    mrd__free(ranks);
}
