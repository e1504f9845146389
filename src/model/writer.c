/* The writer: shards, chunks and the facts in them (model/facts.h has the picture). */
#include "model/facts.h"

#include "base/assert.h"
#include "model/events.h"

#include <string.h>

#define FIRST_THREAD_BITS 6

/* ---- The writer ---- */

mrd__writer *mrd__writer_create(void)
{
    mrd__writer *writer = mrd__new(mrd__writer);
    pthread_mutex_init(&writer->lock, NULL);
    return writer;
}

void mrd__writer_destroy(mrd__writer **writer)
{
    if (writer == NULL || *writer == NULL) return;
    mrd__writer *w = *writer;
    for (size_t i = 0; i < w->shards.count; i++) {
        mrd__shard *shard = w->shards.data[i];
        for (size_t b = 0; b < shard->blobs.count; b++)
            mrd__pages_free(shard->blobs.data[b].data, shard->blobs.data[b].capacity);
        mrd__shard_destroy(shard);
    }
    mrd__writer_free_machines(w);
    for (size_t i = 0; i < w->files.count; i++) {
        mrd__free(w->files.data[i].path);
        mrd__free(w->files.data[i].boot_id);
        mrd__map_close(&w->files.data[i].map);
    }
    mrd__events_destroy(&w->events);
    mrd__vec_reset(&w->files);
    mrd__vec_reset(&w->clocks);
    mrd__vec_reset(&w->shards);
    mrd__vec_reset(&w->losses);
    pthread_mutex_destroy(&w->lock);
    mrd__free(w);
    *writer = NULL;
}

uint32_t mrd__writer_add_file(mrd__writer *writer, const char *path, const char *format,
                              uint64_t bytes, mrd__map *map)
{
    mrd__assert(writer->files.count < MRD__FILES_MAX);
    mrd__file file = {.path = mrd__strndup(path, strlen(path)),
                      .format = format,
                      .clock = "trace_file",
                      .bytes = bytes};
    if (map != NULL) {
        file.map = *map;
        *map = (mrd__map){0};
    }
    mrd__vec_push(&writer->files, file);
    return (uint32_t)writer->files.count - 1;
}

void mrd__writer_clock(mrd__writer *writer, uint32_t file, mrd__file_clock clock)
{
    mrd__vec_push(&writer->clocks, ((mrd__declared_clock){file, clock}));
}

mrd__file *mrd__writer_file(mrd__writer *writer, uint32_t file)
{
    mrd__assert(file < writer->files.count);
    return &writer->files.data[file];
}

mrd__shard *mrd__writer_shard(mrd__writer *writer, uint32_t file)
{
    mrd__shard *shard = mrd__new(mrd__shard);
    shard->writer = writer;
    shard->file = file;
    mrd__pool_init(&shard->pool);
    mrd__pool_mark(&shard->pool);
    shard->thread_bits = FIRST_THREAD_BITS;
    shard->thread_slots = mrd__new_array(uint32_t, (size_t)1 << FIRST_THREAD_BITS);
    pthread_mutex_lock(&writer->lock);
    mrd__vec_push(&writer->shards, shard);
    pthread_mutex_unlock(&writer->lock);
    return shard;
}

void mrd__shard_free_sides(mrd__shard *shard)
{
    for (size_t i = 0; i < shard->side_blocks.count; i++)
        mrd__pages_give(shard->side_blocks.data[i], MRD__SIDE_BLOCK_BYTES);
    mrd__vec_reset(&shard->side_blocks);
    mrd__vec_reset(&shard->halves);
    shard->side_count = 0;
}

void mrd__shard_give_facts(mrd__shard *shard)
{
    for (size_t i = 0; i < shard->blocks.count; i++)
        mrd__pages_give(shard->blocks.data[i], MRD__FACT_BLOCK_BYTES);
    mrd__vec_reset(&shard->blocks);
    shard->at = shard->stop = NULL;
}

void mrd__shard_destroy(mrd__shard *shard)
{
    mrd__shard_give_facts(shard);
    mrd__pool_reset(&shard->pool);
    mrd__vec_reset(&shard->threads);
    mrd__free(shard->thread_slots);
    mrd__vec_reset(&shard->tracks);
    mrd__vec_reset(&shard->clock_runs);
    mrd__vec_reset(&shard->readings);
    mrd__vec_reset(&shard->snapshots);
    mrd__shard_free_sides(shard);
    mrd__vec_reset(&shard->blobs);
    mrd__vec_reset(&shard->metadata);
    mrd__arena_reset(&shard->texts);
    mrd__vec_reset(&shard->chunks);
    mrd__vec_reset(&shard->open_losses);
    for (size_t i = 0; i < shard->history.count; i++)
        mrd__vec_reset(&shard->history.data[i].losses);
    mrd__vec_reset(&shard->history);
    mrd__vec_reset(&shard->losses);
    mrd__free(shard);
}

void mrd__writer_loss(mrd__writer *writer, uint32_t file, mrd__loss_id id, uint64_t count,
                      int64_t offset, mrd__str excerpt, int64_t worst_ns)
{
    mrd__loss loss = {
        .id = id, .file = file, .count = count, .offset = offset, .worst_ns = worst_ns};
    mrd__loss_set_excerpt(&loss, excerpt.data, excerpt.size);
    pthread_mutex_lock(&writer->lock);
    mrd__loss_merge(&writer->losses, &loss);
    pthread_mutex_unlock(&writer->lock);
}

void mrd__writer_events(mrd__writer *writer, uint32_t file, struct mrd__events *events)
{
    mrd__assert(writer->events == NULL);
    writer->events = events;
    writer->events_file = file;
}

/* ---- Chunks ---- */

static void add_counts(mrd__shard *shard, const uint64_t *phases, const mrd__loss_vec *losses)
{
    for (size_t i = 0; i < 128; i++)
        shard->phases[i] += phases[i];
    for (size_t i = 0; i < losses->count; i++)
        mrd__loss_merge(&shard->losses, &losses->data[i]);
}

static void record_chunk(mrd__shard *shard)
{
    mrd__chunk_record record = {.chunk = shard->open,
                                .sides = shard->open_sides,
                                .blobs = shard->open_blobs,
                                .blob_size = shard->open_blob_size,
                                .clock_runs = shard->open_clock_runs,
                                .snapshots = shard->open_snapshots,
                                .losses = shard->open_losses};
    memcpy(record.phases, shard->open_phases, sizeof record.phases);
    mrd__vec_push(&shard->history, record);
    shard->open_losses = (mrd__loss_vec){0};
}

static void close_chunk(mrd__shard *shard)
{
    shard->open.end = mrd__shard_count_facts(shard);
    shard->open.metadata_end = (uint32_t)shard->metadata.count;
    if (shard->open.end > shard->open.first ||
        shard->open.metadata_end > shard->open.metadata_first)
        mrd__vec_push(&shard->chunks, shard->open);
    if (shard->keeps_history) {
        record_chunk(shard);
    } else {
        add_counts(shard, shard->open_phases, &shard->open_losses);
        shard->open_losses.count = 0;
    }
    memset(shard->open_phases, 0, sizeof shard->open_phases);
}

static void open_chunk(mrd__shard *shard, uint64_t order)
{
    shard->open = (mrd__chunk){.order = order,
                               .first = mrd__shard_count_facts(shard),
                               .metadata_first = (uint32_t)shard->metadata.count};
    shard->open_sides = shard->side_count;
    shard->open_clock_runs = shard->clock_runs.count;
    shard->open_snapshots = shard->snapshots.count;
    shard->open_blobs = shard->blobs.count;
    shard->open_blob_size =
        shard->blobs.count > 0 ? shard->blobs.data[shard->blobs.count - 1].size : 0;
    mrd__pool_mark(&shard->pool);
}

void mrd__shard_chunk(mrd__shard *shard, uint64_t order)
{
    close_chunk(shard);
    mrd__assert(shard->chunks.count == 0 ||
                shard->chunks.data[shard->chunks.count - 1].order < order);
    open_chunk(shard, order);
}

/* Facts must be zero when they are handed out again. */
static void drop_facts(mrd__shard *shard, uint64_t keep)
{
    uint64_t count = mrd__shard_count_facts(shard);
    while (count > keep) {
        uint64_t from = (count - 1) / MRD__FACT_BLOCK * MRD__FACT_BLOCK;
        uint64_t block = from / MRD__FACT_BLOCK;
        if (from >= keep) {
            mrd__pages_free(shard->blocks.data[block], MRD__FACT_BLOCK_BYTES);
            shard->blocks.count--;
            count = from;
            continue;
        }
        memset(mrd__shard_fact(shard, keep), 0, (count - keep) * sizeof(mrd__fact));
        count = keep;
    }
    shard->at = shard->stop = NULL;
    if (shard->blocks.count == 0) return;
    mrd__fact *block = shard->blocks.data[shard->blocks.count - 1];
    shard->stop = block + MRD__FACT_BLOCK;
    shard->at = block + (keep - (shard->blocks.count - 1) * MRD__FACT_BLOCK);
}

void mrd__shard_discard(mrd__shard *shard)
{
    drop_facts(shard, shard->open.first);
    shard->side_count = shard->open_sides; /* its blocks serve the next chunk */
    shard->clock_runs.count = shard->open_clock_runs;
    shard->snapshots.count = shard->open_snapshots;
    shard->readings.count =
        shard->snapshots.count > 0 ? shard->snapshots.data[shard->snapshots.count - 1] : 0;
    while (shard->blobs.count > shard->open_blobs) {
        mrd__text_blob *blob = &shard->blobs.data[--shard->blobs.count];
        mrd__pages_free(blob->data, blob->capacity);
    }
    if (shard->blobs.count > 0)
        shard->blobs.data[shard->blobs.count - 1].size = shard->open_blob_size;
    shard->metadata.count = shard->open.metadata_first;
    memset(shard->open_phases, 0, sizeof shard->open_phases);
    shard->open_losses.count = 0;
    mrd__pool_forget(&shard->pool);
}

void mrd__shard_keep_history(mrd__shard *shard)
{
    mrd__assert(shard->chunks.count == 0 && mrd__shard_count_facts(shard) == 0);
    shard->keeps_history = true;
}

/* The newest closed chunk is open again. */
static void reopen_chunk(mrd__shard *shard)
{
    mrd__chunk_record *record = &shard->history.data[--shard->history.count];
    shard->open = record->chunk;
    shard->open_sides = record->sides;
    shard->open_blobs = record->blobs;
    shard->open_blob_size = record->blob_size;
    shard->open_clock_runs = record->clock_runs;
    shard->open_snapshots = record->snapshots;
    mrd__vec_reset(&record->losses);
    if (shard->chunks.count > 0 &&
        shard->chunks.data[shard->chunks.count - 1].order == record->chunk.order)
        shard->chunks.count--;
}

void mrd__shard_discard_from(mrd__shard *shard, uint64_t order, uint64_t position)
{
    mrd__assert(shard->keeps_history);
    if (shard->open.order >= order) mrd__shard_discard(shard);
    while (shard->history.count > 0 &&
           shard->history.data[shard->history.count - 1].chunk.order >= order) {
        reopen_chunk(shard);
        mrd__shard_discard(shard);
    }
    mrd__pool_forget_from(&shard->pool, position);
}

static void add_history(mrd__shard *shard)
{
    for (size_t i = 0; i < shard->history.count; i++) {
        mrd__chunk_record *record = &shard->history.data[i];
        add_counts(shard, record->phases, &record->losses);
        mrd__vec_reset(&record->losses);
    }
    shard->history.count = 0;
}

void mrd__writer_finish(mrd__writer *writer)
{
    for (size_t i = 0; i < writer->shards.count; i++) {
        mrd__shard *shard = writer->shards.data[i];
        close_chunk(shard);
        add_history(shard);
        open_chunk(shard, UINT64_MAX);
    }
}

/* ---- Facts ---- */

mrd__fact *mrd__shard_push(mrd__shard *shard)
{
    if (shard->at == shard->stop) {
        mrd__fact *block = mrd__pages_alloc(MRD__FACT_BLOCK_BYTES);
        mrd__vec_push(&shard->blocks, block);
        shard->at = block;
        shard->stop = block + MRD__FACT_BLOCK;
    }
    return shard->at++;
}

uint32_t mrd__shard_string(mrd__shard *shard, const char *text, size_t size, uint64_t position)
{
    return mrd__pool_intern(&shard->pool, text, size, position);
}

mrd__str mrd__shard_text(const mrd__shard *shard, uint32_t id)
{
    mrd__assert(id < shard->pool.entries.count);
    const mrd__pool_entry *entry = &shard->pool.entries.data[id];
    return (mrd__str){entry->data, entry->size};
}

static bool same_ident(const mrd__ident *a, const mrd__ident *b)
{
    return a->kind == b->kind && a->use == b->use && a->text == b->text && a->number == b->number;
}

static uint64_t hash_ident(const mrd__ident *ident)
{
    return mrd__hash_mix((uint64_t)ident->number + ident->kind,
                         (uint64_t)ident->use << 32 | ident->text);
}

static uint64_t hash_thread(const mrd__shard_thread_key *key)
{
    return mrd__hash_mix(hash_ident(&key->pid), hash_ident(&key->tid) + 1 + key->machine);
}

static void grow_threads(mrd__shard *shard)
{
    shard->thread_bits++;
    mrd__free(shard->thread_slots);
    shard->thread_slots = mrd__new_array(uint32_t, (size_t)1 << shard->thread_bits);
    size_t mask = ((size_t)1 << shard->thread_bits) - 1;
    for (size_t i = 0; i < shard->threads.count; i++) {
        if (shard->threads.data[i].track != 0) continue;
        size_t at = hash_thread(&shard->threads.data[i]) & mask;
        while (shard->thread_slots[at] != 0)
            at = (at + 1) & mask;
        shard->thread_slots[at] = (uint32_t)i + 1;
    }
}

/* Only the members that the kind uses count. */
static mrd__ident plain_ident(mrd__ident ident)
{
    return (mrd__ident){.kind = ident.kind,
                        .use = ident.kind == MRD__IDENT_NONE ? 0 : ident.use,
                        .text = ident.kind == MRD__IDENT_TEXT ? ident.text : 0,
                        .number = ident.kind == MRD__IDENT_NUMBER ? ident.number : 0};
}

uint32_t mrd__shard_thread(mrd__shard *shard, mrd__ident pid, mrd__ident tid)
{
    mrd__shard_thread_key key = {
        .pid = plain_ident(pid), .tid = plain_ident(tid), .machine = shard->machine};
    if (shard->threads.count > 0) {
        const mrd__shard_thread_key *last = &shard->threads.data[shard->last_thread];
        if (last->track == 0 && last->machine == key.machine && same_ident(&last->tid, &key.tid) &&
            same_ident(&last->pid, &key.pid))
            return shard->last_thread;
    }
    size_t mask = ((size_t)1 << shard->thread_bits) - 1;
    size_t at = hash_thread(&key) & mask;
    for (; shard->thread_slots[at] != 0; at = (at + 1) & mask) {
        uint32_t index = shard->thread_slots[at] - 1;
        const mrd__shard_thread_key *own = &shard->threads.data[index];
        if (own->machine == key.machine && same_ident(&own->tid, &key.tid) &&
            same_ident(&own->pid, &key.pid))
            return shard->last_thread = index;
    }
    mrd__assert(shard->threads.count < UINT32_MAX - 1);
    shard->last_thread = (uint32_t)shard->threads.count;
    mrd__vec_push(&shard->threads, key);
    shard->thread_slots[at] = (uint32_t)shard->threads.count;
    if (shard->threads.count * 2 > mask) grow_threads(shard);
    return shard->last_thread;
}

void mrd__shard_machine(mrd__shard *shard, uint32_t machine)
{
    shard->machine = machine;
}

uint32_t mrd__shard_half(mrd__shard *shard, mrd__flow_half half)
{
    mrd__assert(half.pair != 0 && shard->halves.count < UINT32_MAX - 1);
    mrd__vec_push(&shard->halves, half);
    return (uint32_t)shard->halves.count;
}

uint32_t mrd__shard_side(mrd__shard *shard, mrd__side side)
{
    mrd__assert(shard->side_count < UINT32_MAX - 1);
    uint32_t index = shard->side_count++;
    if (index / MRD__SIDE_BLOCK == shard->side_blocks.count) {
        mrd__side *block = mrd__pages_alloc(MRD__SIDE_BLOCK_BYTES);
        mrd__vec_push(&shard->side_blocks, block);
    }
    shard->side_blocks.data[index / MRD__SIDE_BLOCK][index % MRD__SIDE_BLOCK] = side;
    return index + 1;
}

uint32_t mrd__shard_track(mrd__shard *shard)
{
    mrd__assert(shard->threads.count < UINT32_MAX - 1);
    mrd__vec_push(&shard->tracks, ((mrd__track_spec){.owner = MRD__NONE, .parent = MRD__NONE}));
    mrd__vec_push(&shard->threads,
                  ((mrd__shard_thread_key){.track = (uint32_t)shard->tracks.count}));
    return (uint32_t)shard->threads.count - 1;
}

mrd__track_spec *mrd__shard_track_spec(mrd__shard *shard, uint32_t track)
{
    mrd__assert(track < shard->threads.count && shard->threads.data[track].track != 0);
    return &shard->tracks.data[shard->threads.data[track].track - 1];
}

void mrd__shard_clock(mrd__shard *shard, mrd__file_clock clock)
{
    uint64_t first = mrd__shard_count_facts(shard);
    if (shard->clock_runs.count > 0) {
        mrd__clock_run *last = &shard->clock_runs.data[shard->clock_runs.count - 1];
        if (last->clock.id == clock.id && last->clock.sequence == clock.sequence &&
            last->clock.machine == clock.machine)
            return;
        /* A run without facts; one that the chunks before it may need stays. */
        if (last->first == first && shard->clock_runs.count > shard->open_clock_runs) {
            last->clock = clock;
            return;
        }
    }
    mrd__vec_push(&shard->clock_runs, ((mrd__clock_run){first, clock}));
}

void mrd__shard_snapshot(mrd__shard *shard, const mrd__clock_reading *readings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mrd__vec_push(&shard->readings, readings[i]);
    mrd__vec_push(&shard->snapshots, shard->readings.count);
}

uint64_t mrd__shard_own_args(mrd__shard *shard, const char *text, size_t size)
{
    mrd__assert(size <= MRD__BLOB_LARGEST);
    mrd__text_blob *blob =
        shard->blobs.count > 0 ? &shard->blobs.data[shard->blobs.count - 1] : NULL;
    if (blob == NULL || blob->capacity - blob->size < size + 1) {
        size_t capacity = blob == NULL ? MRD__BLOB_FIRST : blob->capacity * 2;
        if (capacity > MRD__BLOB_LARGEST) capacity = MRD__BLOB_LARGEST;
        if (capacity < size + 1) capacity = size + 1;
        mrd__assert(shard->blobs.count < MRD__BLOBS_MAX);
        mrd__assert(shard->blobs.data != NULL || shard->blobs.capacity == 0);
        mrd__text_blob fresh = {.data = mrd__pages_alloc(capacity), .capacity = capacity};
        mrd__vec_push(&shard->blobs, fresh);
        blob = &shard->blobs.data[shard->blobs.count - 1];
    }
    /* A zero byte stays behind each text: the reader of args may look at it. */
    memcpy(blob->data + blob->size, text, size);
    blob->data[blob->size + size] = '\0';
    uint64_t place = (uint64_t)(shard->blobs.count - 1) << 32 | blob->size;
    blob->size += size + 1;
    return place + 1;
}

void mrd__shard_count(mrd__shard *shard, unsigned char letter)
{
    shard->open_phases[letter & 127]++;
}

void mrd__shard_loss(mrd__shard *shard, mrd__loss_id id, char letter, uint64_t count,
                     int64_t offset, const char *excerpt, size_t excerpt_size)
{
    for (size_t i = 0; i < shard->open_losses.count; i++) {
        mrd__loss *own = &shard->open_losses.data[i];
        if (own->id != id || own->letter != letter) continue;
        if ((uint64_t)offset < (uint64_t)own->offset) break;
        own->count += count;
        return;
    }
    mrd__loss loss = {
        .id = id, .letter = letter, .file = shard->file, .count = count, .offset = offset};
    if (excerpt != NULL) mrd__loss_set_excerpt(&loss, excerpt, excerpt_size);
    mrd__loss_merge(&shard->open_losses, &loss);
}

void mrd__shard_metadata(mrd__shard *shard, mrd__str key, mrd__str value, uint8_t json_type)
{
    mrd__assert(key.size < UINT32_MAX && value.size < UINT32_MAX);
    mrd__raw_metadata raw = {.key = mrd__arena_text(&shard->texts, key.data, key.size),
                             .value = mrd__arena_text(&shard->texts, value.data, value.size),
                             .key_size = (uint32_t)key.size,
                             .value_size = (uint32_t)value.size,
                             .json_type = json_type};
    mrd__vec_push(&shard->metadata, raw);
}
