/* Sealing, step by step; sealing.h tells what each does. */
#include "open/seal.h"

#include "base/assert.h"
#include "open/sealing.h"

#include <string.h>

static void begin(mrd__sealing *seal, mrd__writer *writer, uint32_t workers)
{
    *seal = (mrd__sealing){.writer = writer, .workers = workers > 0 ? workers : 1};
    seal->store = mrd__new(mrd__store);
    pthread_mutex_init(&seal->lock, NULL);
    mrd__writer_finish(writer);
    mrd__seal_files(seal);
}

static void make_workers(mrd__sealing *seal)
{
    seal->worker = mrd__new_array(mrd__seal_worker, seal->workers);
    for (uint32_t w = 0; w < seal->workers; w++) {
        mrd__seal_worker *worker = &seal->worker[w];
        worker->seal = seal;
        worker->blob = MRD__NONE;
        worker->start = INT64_MAX;
        worker->end = INT64_MIN;
        mrd__found_init(&worker->found, seal->file_first, (uint32_t)seal->store->file_count);
    }
}

/* What only reading needed. */
static void free_shards(mrd__sealing *seal)
{
    mrd__writer *writer = seal->writer;
    for (size_t s = 0; s < writer->shards.count; s++) {
        mrd__shard_destroy(writer->shards.data[s]);
        if (seal->string_map != NULL) mrd__free(seal->string_map[s]);
        if (seal->thread_map != NULL) mrd__free(seal->thread_map[s]);
    }
    writer->shards.count = 0;
    mrd__free(seal->string_map);
    mrd__free(seal->thread_map);
    mrd__free(seal->blob_base);
    seal->string_map = NULL;
    seal->thread_map = NULL;
}

static void end(mrd__sealing *seal)
{
    free_shards(seal);
    for (uint32_t w = 0; seal->worker != NULL && w < seal->workers; w++) {
        mrd__found_reset(&seal->worker[w].found);
        mrd__buf_reset(&seal->worker[w].text);
        mrd__vec_reset(&seal->worker[w].flow_ends);
    }
    for (size_t p = 0; p < seal->processes.count; p++)
        mrd__vec_reset(&seal->processes.data[p].names);
    for (size_t g = 0; g < seal->groups.count; g++)
        mrd__nested_reset(&seal->groups.data[g].nested);
    mrd__free(seal->worker);
    mrd__free(seal->file_of);
    mrd__vec_reset(&seal->machines);
    mrd__free(seal->file_first);
    mrd__vec_reset(&seal->chunks);
    mrd__vec_reset(&seal->processes);
    mrd__vec_reset(&seal->threads);
    mrd__vec_reset(&seal->own_tracks);
    mrd__vec_reset(&seal->flow_ends);
    mrd__vec_reset(&seal->metas);
    mrd__vec_reset(&seal->groups);
    mrd__points_reset(&seal->points);
    mrd__pages_give(seal->lane, seal->item_count * sizeof *seal->lane);
    pthread_mutex_destroy(&seal->lock);
    mrd__writer_destroy(&seal->writer);
}

static void seal_facts(mrd__sealing *seal)
{
    make_workers(seal);
    mrd__seal_strings(seal);
    mrd__seal_machines(seal);
    mrd__seal_thread_slots(seal);
    mrd__seal_own_slots(seal);
    mrd__seal_clocks(seal);
    mrd__seal_sort_out(seal);
    mrd__seal_pair(seal);
    mrd__seal_tracks(seal);
    mrd__seal_place(seal);
    mrd__seal_view(seal);
    mrd__seal_flows_and_ranks(seal);
    mrd__seal_events(seal);
    mrd__seal_doubles(seal);
    mrd__rows_build(&seal->store->rows, seal->workers);
    mrd__pyramid_build(&seal->store->counters.pyramid, seal->store->counters.value,
                       seal->store->counters.count, seal->workers);
    mrd__seal_losses(seal);
    mrd__seal_strings_done(seal);
}

mrd_status mrd__seal(mrd__writer **writer, uint32_t workers, mrd__store **out, mrd_error *error)
{
    mrd__assert(writer != NULL && *writer != NULL);
    mrd__sealing seal;
    begin(&seal, *writer, workers);
    *writer = NULL;
    mrd_status status = mrd__seal_chunks(&seal, error);
    if (status == MRD_OK)
        seal_facts(&seal);
    else
        mrd__store_destroy(&seal.store);
    end(&seal);
    *out = seal.store;
    return status;
}
