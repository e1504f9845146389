/* Losses of reading and of sealing in one list; metadata of the files. */
#include "open/sealing.h"

#include <stdlib.h>
#include <string.h>

static int compare_losses(const void *left, const void *right)
{
    const mrd__loss *a = left;
    const mrd__loss *b = right;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    mrd__severity severity_a = mrd__loss_info_of(a->id)->severity;
    mrd__severity severity_b = mrd__loss_info_of(b->id)->severity;
    if (severity_a != severity_b) return severity_a > severity_b ? -1 : 1;
    if (a->id != b->id) return a->id < b->id ? -1 : 1;
    return a->letter < b->letter ? -1 : a->letter > b->letter;
}

static void add_found(mrd__sealing *seal, mrd__loss_vec *losses)
{
    mrd__found *all = &seal->worker[0].found;
    for (uint32_t w = 1; w < seal->workers; w++)
        mrd__found_join(all, &seal->worker[w].found);
    for (uint32_t file = 0; file < all->files; file++) {
        for (int id = 0; id < MRD__LOSS_COUNT; id++) {
            const mrd__found_one *one = &all->table[(size_t)file * MRD__LOSS_COUNT + (size_t)id];
            if (one->count == 0) continue;
            mrd__loss loss = {.id = (mrd__loss_id)id,
                              .file = file,
                              .count = one->count,
                              .offset = one->offset,
                              .worst_ns = one->worst_ns};
            mrd__str name = seal->strings.data[one->name];
            mrd__loss_set_excerpt(&loss, name.data, name.size);
            mrd__loss_merge(losses, &loss);
        }
    }
}

void mrd__seal_losses(mrd__sealing *seal)
{
    mrd__loss_vec losses = {0};
    mrd__writer *writer = seal->writer;
    for (size_t s = 0; s < writer->shards.count; s++) {
        const mrd__shard *shard = writer->shards.data[s];
        for (size_t i = 0; i < shard->losses.count; i++) {
            mrd__loss loss = shard->losses.data[i];
            loss.file = seal->file_of[loss.file];
            mrd__loss_merge(&losses, &loss);
        }
    }
    for (size_t i = 0; i < writer->losses.count; i++) {
        mrd__loss loss = writer->losses.data[i];
        loss.file = seal->file_of[loss.file];
        mrd__loss_merge(&losses, &loss);
    }
    add_found(seal, &losses);
    if (losses.count > 1) qsort(losses.data, losses.count, sizeof *losses.data, compare_losses);
    seal->store->losses = losses.data;
    seal->store->loss_count = losses.count;
}

void mrd__seal_metadata(mrd__sealing *seal)
{
    size_t count = 0;
    for (size_t c = 0; c < seal->chunks.count; c++)
        count += seal->chunks.data[c].metadata_end - seal->chunks.data[c].metadata_first;
    mrd__store *store = seal->store;
    store->metadata = mrd__new_array(mrd__metadata, count);
    for (size_t c = 0; c < seal->chunks.count; c++) {
        const mrd__joined *chunk = &seal->chunks.data[c];
        for (uint32_t i = chunk->metadata_first; i < chunk->metadata_end; i++) {
            const mrd__raw_metadata *raw = &chunk->shard->metadata.data[i];
            store->metadata[store->metadata_count++] =
                (mrd__metadata){.key = mrd__seal_string(seal, raw->key, raw->key_size),
                                .value = mrd__seal_string(seal, raw->value, raw->value_size),
                                .json_type = raw->json_type};
        }
    }
}
