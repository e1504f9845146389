/* Tracks that importers describe (mrd__track_spec): their slots, their names, their order. */
#include "open/sealing.h"

#include "base/assert.h"

static mrd__own_track own_of(const mrd__sealing *seal, size_t shard_index, uint32_t base,
                             const mrd__track_spec *spec)
{
    const mrd__shard *shard = seal->writer->shards.data[shard_index];
    const uint32_t *strings = seal->string_map[shard_index];
    mrd__own_track own = {.process = MRD__NONE,
                          .thread = MRD__NONE,
                          .parent = MRD__NONE,
                          .machine =
                              mrd__seal_machine(seal, seal->file_of[shard->file], spec->machine),
                          .file = seal->file_of[shard->file],
                          .name = strings[spec->name],
                          .unit = strings[spec->unit],
                          .async = spec->async,
                          .track = MRD__NONE};
    if (spec->owner != MRD__NONE) {
        mrd__thread_ref owner = seal->thread_map[shard_index][spec->owner];
        own.process = seal->threads.data[owner.thread].process;
        own.machine = seal->processes.data[own.process].machine;
        if (owner.named) own.thread = owner.thread;
    }
    if (spec->parent != MRD__NONE) {
        uint32_t index = shard->threads.data[spec->parent].track;
        mrd__assert(index != 0);
        own.parent = base + index - 1;
    }
    return own;
}

void mrd__seal_own_slots(mrd__sealing *seal)
{
    mrd__writer *writer = seal->writer;
    for (size_t s = 0; s < writer->shards.count; s++) {
        const mrd__shard *shard = writer->shards.data[s];
        uint32_t base = (uint32_t)seal->own_tracks.count;
        for (size_t t = 0; t < shard->threads.count; t++) {
            uint32_t index = shard->threads.data[t].track;
            if (index == 0) continue;
            mrd__own_track own = own_of(seal, s, base, &shard->tracks.data[index - 1]);
            mrd__vec_push(&seal->own_tracks, own);
            seal->thread_map[s][t] = (mrd__thread_ref){MRD__NONE, false, base + index - 1};
        }
    }
}

/* Depth first, the children of one parent in the order of their slots: each slot is a node of the
 * lists child (of a parent, or of the root at [count]) and next. */
void mrd__seal_own_order(mrd__sealing *seal)
{
    uint32_t count = (uint32_t)seal->own_tracks.count;
    uint32_t *child = mrd__alloc(((size_t)count + 1) * sizeof *child);
    uint32_t *next = mrd__alloc(((size_t)count + 1) * sizeof *next);
    for (uint32_t i = 0; i <= count; i++)
        child[i] = MRD__NONE;
    for (uint32_t i = count; i-- > 0;) {
        uint32_t parent = seal->own_tracks.data[i].parent;
        if (parent == MRD__NONE) parent = count;
        next[i] = child[parent];
        child[parent] = i;
    }
    uint32_t place = 0;
    uint32_t at = child[count];
    while (at != MRD__NONE) {
        seal->own_tracks.data[at].place = place++;
        if (child[at] != MRD__NONE) {
            at = child[at];
            continue;
        }
        while (at != MRD__NONE && next[at] == MRD__NONE)
            at = seal->own_tracks.data[at].parent;
        if (at != MRD__NONE) at = next[at];
    }
    mrd__free(child);
    mrd__free(next);
}

mrd__str_id mrd__seal_own_name(const mrd__sealing *seal, const mrd__own_track *own)
{
    if (own->name != 0) return own->name;
    if (own->thread != MRD__NONE) return seal->threads.data[own->thread].name;
    if (own->process != MRD__NONE) return seal->processes.data[own->process].name;
    return 0;
}

uint32_t mrd__seal_own_parent(const mrd__sealing *seal, const mrd__own_track *own)
{
    while (own->parent != MRD__NONE) {
        own = &seal->own_tracks.data[own->parent];
        if (own->track != MRD__NONE) return own->track;
    }
    return MRD__NONE;
}
