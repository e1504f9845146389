/* First step of sealing: files by name, chunks in file order, processes and threads. */
#include "open/sealing.h"

#include "base/assert.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* ---- Files ---- */

typedef struct named_file {
    const char *path;
    uint32_t order, index;
} named_file;

static int compare_files(const void *left, const void *right)
{
    const named_file *a = left;
    const named_file *b = right;
    if (a->order != b->order) return a->order < b->order ? -1 : 1;
    int by_name = strcmp(a->path, b->path);
    if (by_name != 0) return by_name;
    return a->index < b->index ? -1 : a->index > b->index;
}

void mrd__seal_files(mrd__sealing *seal)
{
    mrd__writer *writer = seal->writer;
    size_t count = writer->files.count;
    named_file *names = mrd__new_array(named_file, count);
    for (size_t i = 0; i < count; i++)
        names[i] =
            (named_file){writer->files.data[i].path, writer->files.data[i].order, (uint32_t)i};
    if (count > 1) qsort(names, count, sizeof *names, compare_files);
    seal->file_of = mrd__new_array(uint32_t, count);
    seal->store->files = mrd__new_array(mrd__file, count);
    seal->store->file_count = count;
    for (size_t i = 0; i < count; i++) {
        seal->file_of[names[i].index] = (uint32_t)i;
        seal->store->files[i] = writer->files.data[names[i].index];
    }
    for (size_t i = 0; i < count; i++) {
        mrd__file *file = &seal->store->files[i];
        if (file->parent != 0) file->parent = seal->file_of[file->parent - 1] + 1;
    }
    writer->files.count = 0; /* moved */
    mrd__free(names);
    for (size_t s = 0; s < writer->shards.count; s++) {
        const mrd__shard *shard = writer->shards.data[s];
        mrd__file *file = &seal->store->files[seal->file_of[shard->file]];
        for (size_t p = 0; p < 128; p++) {
            file->phases[p] += shard->phases[p];
            file->events += shard->phases[p];
        }
    }
}

/* ---- Chunks ---- */

static int compare_joined(const void *left, const void *right)
{
    const mrd__joined *a = left;
    const mrd__joined *b = right;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    if (a->order != b->order) return a->order < b->order ? -1 : 1;
    return 0;
}

mrd_status mrd__seal_chunks(mrd__sealing *seal, mrd_error *error)
{
    mrd__writer *writer = seal->writer;
    for (size_t s = 0; s < writer->shards.count; s++) {
        mrd__shard *shard = writer->shards.data[s];
        for (size_t c = 0; c < shard->chunks.count; c++) {
            const mrd__chunk *chunk = &shard->chunks.data[c];
            mrd__joined joined = {.shard = shard,
                                  .shard_index = (uint32_t)s,
                                  .file = seal->file_of[shard->file],
                                  .order = chunk->order,
                                  .first = chunk->first,
                                  .end = chunk->end,
                                  .metadata_first = chunk->metadata_first,
                                  .metadata_end = chunk->metadata_end};
            mrd__vec_push(&seal->chunks, joined);
        }
    }
    if (seal->chunks.count > 1)
        qsort(seal->chunks.data, seal->chunks.count, sizeof *seal->chunks.data, compare_joined);
    size_t files = seal->store->file_count;
    seal->file_first = mrd__new_array(uint32_t, files + 1);
    uint32_t file = 0;
    uint64_t total = 0;
    for (size_t c = 0; c < seal->chunks.count; c++) {
        mrd__joined *chunk = &seal->chunks.data[c];
        while (file <= chunk->file)
            seal->file_first[file++] = (uint32_t)total;
        chunk->base = (uint32_t)total;
        total += chunk->end - chunk->first;
        if (total > MRD__FACTS_MAX)
            return mrd__fail(error, MRD_ERR_LIMIT, "too_many_events",
                             "a trace holds at most %u facts", MRD__FACTS_MAX);
    }
    while (file <= files)
        seal->file_first[file++] = (uint32_t)total;
    seal->facts = total;
    return MRD_OK;
}

/* ---- Processes and threads ---- */

typedef struct slot_table {
    uint32_t *slots; /* index + 1 */
    size_t mask;
} slot_table;

static uint64_t hash_ident(const mrd__ident *ident)
{
    return mrd__hash_mix((uint64_t)ident->number + ident->kind,
                         (uint64_t)ident->use << 32 | ident->text);
}

static bool same_ident(const mrd__ident *a, const mrd__ident *b)
{
    return a->kind == b->kind && a->use == b->use && a->text == b->text && a->number == b->number;
}

static void table_init(slot_table *table, size_t count)
{
    size_t size = 16;
    while (size < count * 2)
        size *= 2;
    table->mask = size - 1;
    table->slots = mrd__new_array(uint32_t, size);
}

static uint32_t process_slot(mrd__sealing *seal, slot_table *table, uint32_t machine,
                             mrd__ident pid)
{
    size_t at = mrd__hash_mix(hash_ident(&pid), machine) & table->mask;
    for (; table->slots[at] != 0; at = (at + 1) & table->mask) {
        uint32_t slot = table->slots[at] - 1;
        const mrd__seal_process *own = &seal->processes.data[slot];
        if (own->machine == machine && same_ident(&own->pid, &pid)) return slot;
    }
    mrd__vec_push(&seal->processes, ((mrd__seal_process){.pid = pid, .machine = machine}));
    table->slots[at] = (uint32_t)seal->processes.count;
    return (uint32_t)seal->processes.count - 1;
}

static uint32_t thread_slot(mrd__sealing *seal, slot_table *table, uint32_t process, mrd__ident tid,
                            uint32_t file)
{
    size_t at = mrd__hash_mix(hash_ident(&tid), process + 1) & table->mask;
    uint32_t first = (uint32_t)seal->threads.count;
    for (; table->slots[at] != 0; at = (at + 1) & table->mask) {
        uint32_t slot = table->slots[at] - 1;
        const mrd__seal_thread *own = &seal->threads.data[slot];
        if (own->process != process || !same_ident(&own->tid, &tid)) continue;
        if (own->file == file) return slot;
        first = own->first;
    }
    mrd__seal_thread fresh = {.process = process, .tid = tid, .file = file, .first = first};
    mrd__vec_push(&seal->threads, fresh);
    table->slots[at] = (uint32_t)seal->threads.count;
    return (uint32_t)seal->threads.count - 1;
}

static mrd__ident global_ident(const uint32_t *string_map, mrd__ident ident)
{
    if (ident.kind == MRD__IDENT_TEXT) ident.text = string_map[ident.text];
    return ident;
}

void mrd__seal_thread_slots(mrd__sealing *seal)
{
    mrd__writer *writer = seal->writer;
    size_t total = 0;
    for (size_t s = 0; s < writer->shards.count; s++)
        total += writer->shards.data[s]->threads.count;
    slot_table processes;
    slot_table threads;
    table_init(&processes, total);
    table_init(&threads, total);
    seal->thread_map = mrd__new_array(mrd__thread_ref *, writer->shards.count);
    for (size_t s = 0; s < writer->shards.count; s++) {
        const mrd__shard *shard = writer->shards.data[s];
        seal->thread_map[s] = mrd__new_array(mrd__thread_ref, shard->threads.count);
        for (size_t t = 0; t < shard->threads.count; t++) {
            if (shard->threads.data[t].track != 0) continue;
            mrd__ident pid = global_ident(seal->string_map[s], shard->threads.data[t].pid);
            mrd__ident tid = global_ident(seal->string_map[s], shard->threads.data[t].tid);
            bool named = tid.kind != MRD__IDENT_NONE;
            uint32_t file = seal->file_of[shard->file];
            uint32_t machine = mrd__seal_machine(seal, file, shard->threads.data[t].machine);
            uint32_t process = process_slot(seal, &processes, machine, pid);
            /* Without a tid an event of a thread belongs to the process's main thread. */
            mrd__ident own = named ? tid : pid;
            if (!named) own.use = 0; /* counted inside each use of the process */
            uint32_t slot = thread_slot(seal, &threads, process, own, file);
            seal->thread_map[s][t] = (mrd__thread_ref){slot, named, MRD__NONE};
        }
    }
    mrd__free(processes.slots);
    mrd__free(threads.slots);
}
