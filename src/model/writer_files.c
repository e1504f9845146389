/* What a writer knows of files beside their facts: machines, boots; writers joined to one. */
#include "model/facts.h"

#include "base/assert.h"

#include <string.h>

void mrd__writer_plan(mrd__writer *writer, const struct mrd__merge_plan *plan)
{
    writer->plan = plan;
}

void mrd__writer_boot(mrd__writer *writer, uint32_t file, const char *boot_id)
{
    mrd__file *own = mrd__writer_file(writer, file);
    mrd__free(own->boot_id);
    own->boot_id = mrd__strndup(boot_id, strlen(boot_id));
}

/* ---- Machines ---- */

static mrd__file_machine *machine_of(mrd__writer *writer, uint32_t file, uint32_t machine)
{
    for (size_t i = 0; i < writer->machines.count; i++) {
        mrd__file_machine *own = &writer->machines.data[i];
        if (own->file == file && own->machine == machine) return own;
    }
    mrd__vec_push(&writer->machines, ((mrd__file_machine){.file = file, .machine = machine}));
    return &writer->machines.data[writer->machines.count - 1];
}

const mrd__file_machine *mrd__writer_find_machine(const mrd__writer *writer, uint32_t file,
                                                  uint32_t machine)
{
    for (size_t i = 0; i < writer->machines.count; i++) {
        const mrd__file_machine *own = &writer->machines.data[i];
        if (own->file == file && own->machine == machine) return own;
    }
    return NULL;
}

static void set_text(char **text, const char *value)
{
    if (value == NULL || *value == '\0') return;
    mrd__free(*text);
    *text = mrd__strndup(value, strlen(value));
}

void mrd__writer_machine(mrd__writer *writer, uint32_t file, uint32_t machine,
                         const mrd__machine_facts *facts)
{
    mrd__file_machine *own = machine_of(writer, file, machine);
    set_text(&own->name, facts->name);
    set_text(&own->sysname, facts->sysname);
    set_text(&own->release, facts->release);
    set_text(&own->version, facts->version);
    set_text(&own->arch, facts->arch);
    if (facts->num_cpus != 0) own->num_cpus = facts->num_cpus;
    own->by_name |= facts->by_name;
}

void mrd__writer_free_machines(mrd__writer *writer)
{
    for (size_t i = 0; i < writer->machines.count; i++) {
        mrd__file_machine *own = &writer->machines.data[i];
        mrd__free(own->name);
        mrd__free(own->sysname);
        mrd__free(own->release);
        mrd__free(own->version);
        mrd__free(own->arch);
    }
    mrd__vec_reset(&writer->machines);
}

/* ---- Joining ---- */

uint32_t mrd__writer_join(mrd__writer *writer, mrd__writer **other)
{
    mrd__writer *from = *other;
    uint32_t base = (uint32_t)writer->files.count;
    mrd__assert(writer->events == NULL || from->events == NULL);
    mrd__assert(writer->files.count + from->files.count <= MRD__FILES_MAX);
    for (size_t i = 0; i < from->files.count; i++)
        mrd__vec_push(&writer->files, from->files.data[i]);
    for (size_t i = 0; i < from->clocks.count; i++) {
        mrd__declared_clock clock = from->clocks.data[i];
        clock.file += base;
        mrd__vec_push(&writer->clocks, clock);
    }
    for (size_t i = 0; i < from->machines.count; i++) {
        mrd__file_machine machine = from->machines.data[i];
        machine.file += base;
        mrd__vec_push(&writer->machines, machine);
    }
    for (size_t i = 0; i < from->losses.count; i++) {
        mrd__loss loss = from->losses.data[i];
        loss.file += base;
        mrd__loss_merge(&writer->losses, &loss);
    }
    for (size_t i = 0; i < from->shards.count; i++) {
        mrd__shard *shard = from->shards.data[i];
        shard->writer = writer;
        shard->file += base;
        for (size_t l = 0; l < shard->open_losses.count; l++)
            shard->open_losses.data[l].file += base;
        for (size_t l = 0; l < shard->losses.count; l++)
            shard->losses.data[l].file += base;
        for (size_t h = 0; h < shard->history.count; h++)
            for (size_t l = 0; l < shard->history.data[h].losses.count; l++)
                shard->history.data[h].losses.data[l].file += base;
        mrd__vec_push(&writer->shards, shard);
    }
    if (from->events != NULL) {
        writer->events = from->events;
        writer->events_file = from->events_file + base;
        from->events = NULL;
    }
    from->files.count = from->shards.count = from->machines.count = 0;
    mrd__writer_destroy(other);
    return base;
}
