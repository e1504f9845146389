/* Machines: what files call by a number becomes one table.
 *
 * A machine is told from others by its name where a manifest gives one (or the file is one rank of
 * several), else by its number: 0 is the host of every file that says nothing else. Named ones are
 * numbered from 2^32 on, as the original does. */
#include "open/sealing.h"

#include "model/merge.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_NAMED ((int64_t)1 << 32)

typedef struct identity { /* of a machine of the store */
    const char *name;     /* NULL: told by raw_id */
    int64_t raw_id;
} identity;

typedef struct naming {
    mrd__sealing *seal;
    MRD__VEC(identity) all; /* as store->machines */
    int64_t next_named;
} naming;

static uint32_t index_of(naming *n, const char *name, uint32_t number)
{
    for (size_t i = 0; i < n->all.count; i++) {
        const identity *own = &n->all.data[i];
        bool same = name != NULL ? own->name != NULL && strcmp(own->name, name) == 0
                                 : own->name == NULL && own->raw_id == (int64_t)number;
        if (same) return (uint32_t)i;
    }
    identity fresh = {name, name != NULL ? n->next_named++ : (int64_t)number};
    mrd__vec_push(&n->all, fresh);
    return (uint32_t)n->all.count - 1;
}

/* The name that a machine of a file goes by, NULL none. file: of the writer. */
static const char *name_of(const mrd__sealing *seal, uint32_t file, uint32_t number)
{
    const mrd__merge_plan *plan = seal->writer->plan;
    for (size_t i = 0; plan != NULL && i < plan->machine_count; i++) {
        const mrd__merge_machine *own = &plan->machines[i];
        if (own->file == file && (own->machine == number || own->machine == UINT32_MAX))
            return own->name;
    }
    const mrd__file_machine *facts = mrd__writer_find_machine(seal->writer, file, number);
    return facts != NULL && facts->by_name ? facts->name : NULL;
}

static int compare_refs(const void *left, const void *right)
{
    const mrd__machine_ref *a = left;
    const mrd__machine_ref *b = right;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static void refer(mrd__sealing *seal, uint32_t file, uint32_t number)
{
    size_t count = seal->machines.count;
    if (count > 0 && seal->machines.data[count - 1].file == file &&
        seal->machines.data[count - 1].number == number)
        return;
    mrd__vec_push(&seal->machines, ((mrd__machine_ref){.file = file, .number = number}));
}

/* All numbers that files use, each once. Traces have a machine of their own in any case. */
static void collect(mrd__sealing *seal)
{
    const mrd__writer *writer = seal->writer;
    for (uint32_t i = 0; i < seal->store->file_count; i++)
        if (seal->store->files[i].clock != NULL) refer(seal, i, 0);
    for (size_t s = 0; s < writer->shards.count; s++) {
        const mrd__shard *shard = writer->shards.data[s];
        uint32_t file = seal->file_of[shard->file];
        for (size_t i = 0; i < shard->threads.count; i++)
            refer(seal, file, shard->threads.data[i].machine);
        for (size_t i = 0; i < shard->tracks.count; i++)
            refer(seal, file, shard->tracks.data[i].machine);
        for (size_t i = 0; i < shard->clock_runs.count; i++)
            refer(seal, file, shard->clock_runs.data[i].clock.machine);
        for (size_t i = 0; i < shard->readings.count; i++)
            refer(seal, file, shard->readings.data[i].clock.machine);
    }
    for (size_t i = 0; i < writer->machines.count; i++)
        refer(seal, seal->file_of[writer->machines.data[i].file], writer->machines.data[i].machine);
    mrd__machine_ref *refs = seal->machines.data;
    if (seal->machines.count > 1) qsort(refs, seal->machines.count, sizeof *refs, compare_refs);
    size_t kept = 0;
    for (size_t i = 0; i < seal->machines.count; i++)
        if (kept == 0 || compare_refs(&refs[kept - 1], &refs[i]) != 0) refs[kept++] = refs[i];
    seal->machines.count = kept;
}

static void set_text(mrd__sealing *seal, mrd__str_id *out, const char *text)
{
    if (*out != 0 || text == NULL) return;
    mrd__buf valid = {0};
    mrd__utf8_repair(&valid, mrd__str_of(text));
    *out = mrd__seal_string(seal, valid.data, valid.size);
    mrd__buf_reset(&valid);
}

static void describe(mrd__sealing *seal, mrd__machine *machine, const mrd__file_machine *facts)
{
    if (facts == NULL) return;
    set_text(seal, &machine->name, facts->name);
    set_text(seal, &machine->sysname, facts->sysname);
    set_text(seal, &machine->release, facts->release);
    set_text(seal, &machine->version, facts->version);
    set_text(seal, &machine->arch, facts->arch);
    if (machine->num_cpus == 0) machine->num_cpus = facts->num_cpus;
}

static uint32_t writer_file(const mrd__sealing *seal, uint32_t file)
{
    uint32_t i = 0;
    while (seal->file_of[i] != file)
        i++;
    return i;
}

void mrd__seal_machines(mrd__sealing *seal)
{
    naming n = {.seal = seal, .next_named = FIRST_NAMED};
    mrd__store *store = seal->store;
    const mrd__merge_plan *plan = seal->writer->plan;
    collect(seal);
    for (size_t i = 0; plan != NULL && i < plan->machine_count; i++)
        (void)index_of(&n, plan->machines[i].name, 0);
    for (size_t i = 0; i < seal->machines.count; i++) {
        mrd__machine_ref *ref = &seal->machines.data[i];
        uint32_t file = writer_file(seal, ref->file);
        ref->index = index_of(&n, name_of(seal, file, ref->number), ref->number);
    }
    if (n.all.count == 0) (void)index_of(&n, NULL, 0);
    store->machine_count = n.all.count;
    store->machines = mrd__new_array(mrd__machine, n.all.count);
    for (size_t i = 0; i < n.all.count; i++) {
        store->machines[i].raw_id = n.all.data[i].raw_id;
        set_text(seal, &store->machines[i].name, n.all.data[i].name);
    }
    for (size_t i = 0; i < seal->machines.count; i++) {
        const mrd__machine_ref *ref = &seal->machines.data[i];
        uint32_t file = writer_file(seal, ref->file);
        describe(seal, &store->machines[ref->index],
                 mrd__writer_find_machine(seal->writer, file, ref->number));
        if (ref->number == 0) store->files[ref->file].machine = ref->index;
    }
    mrd__vec_reset(&n.all);
}

uint32_t mrd__seal_machine(const mrd__sealing *seal, uint32_t file, uint32_t number)
{
    mrd__machine_ref key = {.file = file, .number = number};
    const mrd__machine_ref *found =
        bsearch(&key, seal->machines.data, seal->machines.count, sizeof key, compare_refs);
    return found != NULL ? found->index : 0;
}
