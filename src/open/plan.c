#include "open/plan.h"

#include "base/error.h"
#include "clock/graph.h"
#include "model/facts.h"

#include <stdio.h>
#include <string.h>

#define NAMES_SHOWN 5 /* of the files or machines that would have been allowed */

/* ---- Files of the manifest among the inputs ---- */

typedef struct finding {
    mrd__plan *plan;
    const mrd__inputs *inputs;
    mrd_error *error;
} finding;

/* Paths of a manifest in an archive count from there, others from the files that were asked for. */
static bool is_at(const finding *f, const mrd__input *input, const char *name, bool *ends)
{
    const mrd__input *manifest = &f->inputs->list.data[f->plan->manifest_input];
    *ends = false;
    if (manifest->parent != MRD__NONE) {
        const char *outer = f->inputs->list.data[manifest->parent].path;
        size_t size = strlen(outer);
        return strncmp(input->path, outer, size) == 0 && input->path[size] == '/' &&
               strcmp(input->path + size + 1, name) == 0;
    }
    if (strcmp(input->path, name) == 0) return true;
    size_t size = strlen(input->path);
    size_t wanted = strlen(name);
    *ends = size > wanted && input->path[size - wanted - 1] == '/' &&
            strcmp(input->path + size - wanted, name) == 0;
    return false;
}

static bool is_trace(const mrd__input *input)
{
    return !input->container && !input->manifest;
}

static mrd_status no_such_file(const finding *f, size_t index, const char *why)
{
    mrd__buf names = {0};
    size_t shown = 0;
    for (size_t i = 0; i < f->inputs->list.count; i++) {
        const mrd__input *input = &f->inputs->list.data[i];
        if (!is_trace(input)) continue;
        if (shown++ < NAMES_SHOWN)
            mrd__buf_printf(&names, "%s%.100s", shown > 1 ? ", " : "",
                            input->member != NULL ? input->member : input->path);
    }
    if (shown > NAMES_SHOWN) mrd__buf_printf(&names, " and %zu more", shown - NAMES_SHOWN);
    const mrd__manifest *m = &f->plan->manifest;
    mrd_status status = mrd__manifest_fail(
        m, f->error, "$.%s.files[%zu].path is \"%.128s\", which is %s, allowed are the files %s",
        m->key, index, m->files.data[index].path, why, names.size > 0 ? names.data : "(none)");
    mrd__buf_reset(&names);
    return status;
}

static mrd_status find_file(finding *f, size_t index)
{
    const char *name = f->plan->manifest.files.data[index].path;
    uint32_t exact = MRD__NONE;
    uint32_t by_end = MRD__NONE;
    size_t ends_count = 0;
    for (uint32_t i = 0; i < f->inputs->list.count; i++) {
        bool ends = false;
        if (is_at(f, &f->inputs->list.data[i], name, &ends)) exact = i;
        if (ends) {
            by_end = i;
            ends_count++;
        }
    }
    if (exact == MRD__NONE && ends_count > 1)
        return no_such_file(f, index, "the end of more than one path");
    uint32_t found = exact != MRD__NONE ? exact : by_end;
    if (found == MRD__NONE) return no_such_file(f, index, "not there");
    if (!is_trace(&f->inputs->list.data[found])) return no_such_file(f, index, "no trace");
    f->plan->input_of[index] = found;
    return MRD_OK;
}

static size_t file_named(const mrd__manifest *manifest, const char *path)
{
    size_t i = 0;
    while (strcmp(manifest->files.data[i].path, path) != 0)
        i++; /* mrd__manifest_read saw that it is there */
    return i;
}

/* ---- Machines ---- */

/* The number of a file's machine of this name; NULL: the only one it has. */
static mrd_status machine_number(const finding *f, const char *place, const char *name,
                                 const mrd__manifest_file *file, uint32_t *out)
{
    const mrd__manifest *m = &f->plan->manifest;
    *out = 0;
    if (name == NULL && file->machines.count <= 1) {
        if (file->machines.count == 1) *out = file->machines.data[0].id;
        return MRD_OK;
    }
    mrd__buf names = {0};
    bool found = name != NULL && file->machine != NULL && strcmp(file->machine, name) == 0;
    if (file->machine != NULL) mrd__buf_text(&names, file->machine);
    for (size_t i = 0; i < file->machines.count; i++) {
        const mrd__manifest_machine *machine = &file->machines.data[i];
        mrd__buf_printf(&names, "%s%.64s", names.size > 0 ? ", " : "", machine->name);
        if (name == NULL || strcmp(machine->name, name) != 0) continue;
        found = true;
        *out = machine->id;
    }
    mrd_status status = MRD_OK;
    if (!found)
        status = mrd__manifest_fail(
            m, f->error, "$.%s.%s %s%.64s%s, allowed are the machines of \"%.128s\": %s", m->key,
            place, name != NULL ? "is \"" : "is missing", name != NULL ? name : "",
            name != NULL ? "\"" : "", file->path, names.size > 0 ? names.data : "it names none");
    mrd__buf_reset(&names);
    return status;
}

static void add_machine(mrd__plan *plan, uint32_t input, uint32_t machine, const char *name)
{
    mrd__vec_push(&plan->machines, ((mrd__merge_machine){input, machine, name}));
}

/* ---- Clocks ---- */

static mrd_status add_edge(finding *f, size_t index)
{
    const mrd__manifest *m = &f->plan->manifest;
    const mrd__manifest_file *file = &m->files.data[index];
    size_t other_index = file_named(m, file->sync_file);
    const mrd__manifest_file *other = &m->files.data[other_index];
    char place[80];
    mrd__merge_edge edge = {.file = f->plan->input_of[index],
                            .to_file = f->plan->input_of[other_index],
                            .offset_ns = file->offset_ns};
    edge.clock.id = file->clock != 0 ? file->clock : MRD__CLOCK_FILE;
    edge.to.id = file->sync_clock != 0 ? file->sync_clock : MRD__CLOCK_FILE;
    snprintf(place, sizeof place, "files[%zu].clocks.machine", index);
    MRD__TRY(machine_number(f, place, file->clock_machine, file, &edge.clock.machine));
    snprintf(place, sizeof place, "files[%zu].clocks.sync_to.machine", index);
    MRD__TRY(machine_number(f, place, file->sync_machine, other, &edge.to.machine));
    if (file->clock == 0) {
        f->plan->merge.pinned[edge.file] = true;
        edge.clock.machine = 0;
    }
    if (edge.file == edge.to_file && edge.clock.machine == edge.to.machine &&
        edge.clock.id == edge.to.id)
        return mrd__manifest_fail(m, f->error,
                                  "$.%s.files[%zu].clocks relates a clock to itself, allowed is "
                                  "another file or clock",
                                  m->key, index);
    mrd__vec_push(&f->plan->edges, edge);
    return MRD_OK;
}

static mrd_status take_trace_time(finding *f)
{
    const mrd__manifest *m = &f->plan->manifest;
    mrd__merge_plan *merge = &f->plan->merge;
    merge->has_trace_time = m->has_trace_time;
    merge->trace_file = MRD__NONE;
    merge->trace_clock.id = m->trace_clock;
    if (m->trace_file == NULL) return MRD_OK;
    size_t index = file_named(m, m->trace_file);
    merge->trace_file = f->plan->input_of[index];
    return machine_number(f, "trace_time.machine", m->trace_machine, &m->files.data[index],
                          &merge->trace_clock.machine);
}

static mrd_status take_files(finding *f)
{
    mrd__plan *plan = f->plan;
    const mrd__manifest *m = &plan->manifest;
    plan->input_of = mrd__new_array(uint32_t, m->files.count);
    plan->merge.file_count = f->inputs->list.count;
    plan->merge.pinned = mrd__new_array(bool, f->inputs->list.count);
    plan->merge.linear_file = mrd__new_array(bool, f->inputs->list.count);
    for (size_t i = 0; i < m->files.count; i++)
        MRD__TRY(find_file(f, i));
    for (size_t i = 0; i < m->files.count; i++) {
        const mrd__manifest_file *file = &m->files.data[i];
        plan->merge.linear_file[plan->input_of[i]] = file->linear;
        if (file->machine != NULL)
            add_machine(plan, plan->input_of[i], MRD__EVERY_MACHINE, file->machine);
        for (size_t k = 0; k < file->machines.count; k++)
            add_machine(plan, plan->input_of[i], file->machines.data[k].id,
                        file->machines.data[k].name);
        if (file->has_sync) MRD__TRY(add_edge(f, i));
    }
    return take_trace_time(f);
}

/* ---- The plan ---- */

static mrd_status find_manifest(mrd__plan *plan, const mrd__inputs *inputs, mrd_error *error)
{
    plan->manifest_input = MRD__NONE;
    for (uint32_t i = 0; i < inputs->list.count; i++) {
        if (!inputs->list.data[i].manifest) continue;
        if (plan->manifest_input != MRD__NONE)
            return mrd__fail(error, MRD_ERR_FORMAT, "two_manifests",
                             "two manifests, %.300s and %.300s, allowed is one",
                             inputs->list.data[plan->manifest_input].path,
                             inputs->list.data[i].path);
        plan->manifest_input = i;
    }
    return MRD_OK;
}

mrd_status mrd__plan_make(mrd__plan *plan, const mrd__inputs *inputs, mrd_error *error)
{
    *plan = (mrd__plan){0};
    plan->merge.trace_file = MRD__NONE;
    MRD__TRY(find_manifest(plan, inputs, error));
    if (plan->manifest_input == MRD__NONE) return MRD_OK;
    const mrd__input *input = &inputs->list.data[plan->manifest_input];
    mrd__str text = {input->map.data, input->map.size};
    mrd_status status = mrd__manifest_read(&plan->manifest, input->format, text, error);
    finding f = {.plan = plan, .inputs = inputs, .error = error};
    if (status == MRD_OK) status = take_files(&f);
    if (status != MRD_OK) return mrd__fail_at(error, status, input->path, -1);
    plan->merge.edges = plan->edges.data;
    plan->merge.edge_count = plan->edges.count;
    plan->merge.machines = plan->machines.data;
    plan->merge.machine_count = plan->machines.count;
    plan->merge.global_flows = plan->manifest.global_flows;
    plan->merge.linear = plan->manifest.linear;
    return MRD_OK;
}

void mrd__plan_reset(mrd__plan *plan)
{
    mrd__manifest_reset(&plan->manifest);
    mrd__free(plan->input_of);
    mrd__free(plan->merge.pinned);
    mrd__free(plan->merge.linear_file);
    mrd__vec_reset(&plan->edges);
    mrd__vec_reset(&plan->machines);
    *plan = (mrd__plan){0};
}

/* ---- What the files turned out to hold ---- */

/* The first machine number of a shard that is not one of the allowed; false when all are. */
static bool foreign_machine(const mrd__shard *shard, const mrd__manifest_file *file, bool pinned,
                            uint32_t *out)
{
    for (size_t i = 0; i < shard->clock_runs.count + shard->readings.count + shard->threads.count;
         i++) {
        size_t runs = shard->clock_runs.count;
        size_t readings = runs + shard->readings.count;
        *out = i < runs       ? shard->clock_runs.data[i].clock.machine
               : i < readings ? shard->readings.data[i - runs].clock.machine
                              : shard->threads.data[i - readings].machine;
        bool known = *out == 0;
        for (size_t m = 0; m < file->machines.count && !pinned; m++)
            known |= file->machines.data[m].id == *out;
        if (!known) return true;
    }
    return false;
}

static mrd_status check_file(const mrd__plan *plan, size_t index, const mrd__shard *shard,
                             mrd_error *error)
{
    const mrd__manifest *m = &plan->manifest;
    const mrd__manifest_file *file = &m->files.data[index];
    uint32_t machine = 0;
    bool pinned = plan->merge.pinned[plan->input_of[index]];
    bool judged = pinned || file->machines.count > 0;
    bool foreign = judged && foreign_machine(shard, file, pinned, &machine);
    if (pinned && (shard->snapshots.count > 0 || foreign))
        return mrd__manifest_fail(
            m, error,
            "$.%s.files[%zu].clocks: clock overrides require the trace to use a single clock; "
            "\"%.128s\" has %s, allowed with it is clocks.clock",
            m->key, index, file->path, foreign ? "more machines" : "clock snapshots");
    if (foreign)
        return mrd__manifest_fail(m, error,
                                  "$.%s.files[%zu].machines: \"%.128s\" has machine %u, allowed "
                                  "are the ids that stand there",
                                  m->key, index, file->path, machine);
    return MRD_OK;
}

mrd_status mrd__plan_check(const mrd__plan *plan, const mrd__inputs *inputs,
                           const mrd__writer *writer, mrd_error *error)
{
    if (plan->manifest_input == MRD__NONE) return MRD_OK;
    const mrd__input *input = &inputs->list.data[plan->manifest_input];
    for (size_t i = 0; i < plan->manifest.files.count; i++) {
        for (size_t s = 0; s < writer->shards.count; s++) {
            const mrd__shard *shard = writer->shards.data[s];
            if (shard->file != plan->input_of[i]) continue;
            mrd_status status = check_file(plan, i, shard, error);
            if (status != MRD_OK) return mrd__fail_at(error, status, input->path, -1);
        }
    }
    return MRD_OK;
}
