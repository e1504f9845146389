/* Names and display order: processes by (sort index, name, id), their threads likewise, then the
 * groups: the global track, and of each process its instants, counters, async tracks, threads. */
#include "open/sealing.h"

#include <stdlib.h>

/* ---- Metadata facts ---- */

static void add_name(mrd__seal_process *process, mrd__str_id name)
{
    process->name = name;
    for (size_t i = 0; i < process->names.count; i++)
        if (process->names.data[i] == name) return;
    mrd__vec_push(&process->names, name);
}

static void apply_metas(mrd__sealing *seal)
{
    for (size_t i = 0; i < seal->metas.count; i++) {
        const mrd__meta *meta = &seal->metas.data[i];
        mrd__seal_thread *thread = &seal->threads.data[seal->threads.data[meta->thread].first];
        mrd__seal_process *process = &seal->processes.data[thread->process];
        switch (meta->phase) {
        case MRD__PROCESS_NAME:
            add_name(process, meta->name);
            break;
        case MRD__THREAD_NAME:
            thread->name = meta->name;
            break;
        case MRD__PROCESS_LABELS:
            process->labels = meta->name;
            break;
        case MRD__PROCESS_SORT:
            process->sort_index = meta->value;
            break;
        case MRD__THREAD_SORT:
            thread->sort_index = meta->value;
            break;
        default:
            break;
        }
    }
    /* An id that is a text serves as the name where none was given. */
    for (size_t p = 0; p < seal->processes.count; p++) {
        mrd__seal_process *process = &seal->processes.data[p];
        if (process->name == 0 && process->pid.kind == MRD__IDENT_TEXT)
            process->name = process->pid.text;
    }
    for (size_t t = 0; t < seal->threads.count; t++) {
        mrd__seal_thread *thread = &seal->threads.data[t];
        if (thread->name == 0 && thread->tid.kind == MRD__IDENT_TEXT)
            thread->name = thread->tid.text;
    }
}

/* ---- Processes and threads in display order ---- */

typedef struct display_key {
    const mrd__sealing *seal;
    uint32_t process; /* of a thread: index in the store; of a process its machine */
    int64_t sort_index;
    mrd__str_id name;
    mrd__ident id;
    uint32_t slot;
} display_key;

static int compare_idents(const mrd__sealing *seal, const mrd__ident *a, const mrd__ident *b)
{
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->kind == MRD__IDENT_TEXT)
        return mrd__str_compare(seal->strings.data[a->text], seal->strings.data[b->text]);
    return a->number < b->number ? -1 : a->number > b->number;
}

static int compare_display(const void *left, const void *right)
{
    const display_key *a = left;
    const display_key *b = right;
    if (a->process != b->process) return a->process < b->process ? -1 : 1;
    if (a->sort_index != b->sort_index) return a->sort_index < b->sort_index ? -1 : 1;
    mrd__str a_name = a->seal->strings.data[a->name];
    mrd__str b_name = a->seal->strings.data[b->name];
    /* Who has a name was worth naming: clang's hundred nameless totals come after its main
     * thread. */
    if ((a_name.size == 0) != (b_name.size == 0)) return a_name.size == 0 ? 1 : -1;
    int by_name = mrd__str_compare(a_name, b_name);
    if (by_name != 0) return by_name;
    int by_id = compare_idents(a->seal, &a->id, &b->id);
    if (by_id != 0) return by_id;
    return a->id.use < b->id.use ? -1 : a->id.use > b->id.use;
}

static void order_processes(mrd__sealing *seal)
{
    display_key *keys = mrd__new_array(display_key, seal->processes.count);
    size_t count = 0;
    size_t names = 0;
    for (size_t p = 0; p < seal->processes.count; p++) {
        mrd__seal_process *process = &seal->processes.data[p];
        process->index = MRD__NONE;
        if (!process->used) continue;
        keys[count++] = (display_key){seal,          process->machine, process->sort_index,
                                      process->name, process->pid,     (uint32_t)p};
        names += process->names.count;
    }
    if (count > 1) qsort(keys, count, sizeof *keys, compare_display);
    mrd__store *store = seal->store;
    store->processes = mrd__new_array(mrd__process, count);
    store->process_count = count;
    store->process_names = mrd__new_array(mrd__str_id, names);
    uint32_t next = 0;
    for (size_t i = 0; i < count; i++) {
        mrd__seal_process *process = &seal->processes.data[keys[i].slot];
        process->index = (uint32_t)i;
        store->processes[i] = (mrd__process){.pid = process->pid,
                                             .machine = process->machine,
                                             .name = process->name,
                                             .name_first = next,
                                             .name_count = (uint32_t)process->names.count,
                                             .sort_index = process->sort_index,
                                             .labels = process->labels};
        for (size_t n = 0; n < process->names.count; n++)
            store->process_names[next++] = process->names.data[n];
    }
    mrd__free(keys);
}

static void order_threads(mrd__sealing *seal)
{
    for (size_t t = 0; t < seal->threads.count; t++)
        if (seal->threads.data[t].used) seal->threads.data[seal->threads.data[t].first].used = true;
    display_key *keys = mrd__new_array(display_key, seal->threads.count);
    size_t count = 0;
    for (size_t t = 0; t < seal->threads.count; t++) {
        mrd__seal_thread *thread = &seal->threads.data[t];
        thread->index = MRD__NONE;
        if (!thread->used || thread->first != t) continue;
        uint32_t process = seal->processes.data[thread->process].index;
        keys[count++] = (display_key){seal,         process,     thread->sort_index,
                                      thread->name, thread->tid, (uint32_t)t};
    }
    if (count > 1) qsort(keys, count, sizeof *keys, compare_display);
    mrd__store *store = seal->store;
    store->threads = mrd__new_array(mrd__thread, count);
    store->thread_count = count;
    for (size_t i = 0; i < count; i++) {
        mrd__seal_thread *thread = &seal->threads.data[keys[i].slot];
        thread->index = (uint32_t)i;
        store->threads[i] = (mrd__thread){.process = keys[i].process,
                                          .tid = thread->tid,
                                          .name = thread->name,
                                          .sort_index = thread->sort_index};
    }
    for (size_t t = 0; t < seal->threads.count; t++) {
        mrd__seal_thread *thread = &seal->threads.data[t];
        thread->index = seal->threads.data[thread->first].index;
        thread->name = seal->threads.data[thread->first].name;
    }
    mrd__free(keys);
}

void mrd__seal_names(mrd__sealing *seal)
{
    apply_metas(seal);
    order_processes(seal);
    order_threads(seal);
}

/* ---- Groups ---- */

typedef struct group_key {
    uint32_t process; /* + 1, 0 the global track */
    uint32_t class;   /* process instants, counters, async, threads */
    uint32_t thread;
    uint32_t own;  /* described tracks behind the thread's own */
    uint32_t file; /* the thread's own tracks: one a file */
    uint32_t kind; /* slices before instants */
    uint32_t order;
    uint32_t index;
} group_key;

static int compare_groups(const void *left, const void *right)
{
    const group_key *a = left;
    const group_key *b = right;
    if (a->process != b->process) return a->process < b->process ? -1 : 1;
    if (a->class != b->class) return a->class < b->class ? -1 : 1;
    if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
    if (a->own != b->own) return a->own < b->own ? -1 : 1;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->order != b->order) return a->order < b->order ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static group_key key_of(const mrd__sealing *seal, const mrd__group *group, uint32_t index)
{
    group_key key = {.kind = group->kind, .order = group->first_order, .index = index};
    if (group->own != MRD__NONE) {
        key.class = 2;
        key.own = seal->own_tracks.data[group->own].place + 1;
    }
    if (group->process == MRD__NONE) return key;
    key.process = seal->processes.data[group->process].index + 1;
    if (group->thread != MRD__NONE) {
        key.class = 3;
        key.thread = seal->threads.data[group->thread].index;
        if (group->own == MRD__NONE) key.file = seal->threads.data[group->thread].file;
        bool keyed = group->kind == MRD__TRACK_ASYNC || group->kind == MRD__TRACK_COUNTER;
        if (group->own == MRD__NONE && keyed) key.own = UINT32_MAX; /* behind the described ones */
    } else if (group->own != MRD__NONE) {
        return key;
    } else if (group->kind == MRD__TRACK_COUNTER) {
        key.class = 1;
    } else if (group->kind == MRD__TRACK_ASYNC) {
        key.class = 2;
    }
    return key;
}

void mrd__seal_order_groups(mrd__sealing *seal, uint32_t *place)
{
    size_t count = seal->groups.count;
    group_key *keys = mrd__new_array(group_key, count);
    for (size_t g = 0; g < count; g++)
        keys[g] = key_of(seal, &seal->groups.data[g], (uint32_t)g);
    if (count > 1) qsort(keys, count, sizeof *keys, compare_groups);
    mrd__group *ordered = mrd__new_array(mrd__group, count);
    for (size_t g = 0; g < count; g++) {
        ordered[g] = seal->groups.data[keys[g].index];
        place[keys[g].index] = (uint32_t)g;
    }
    mrd__free(seal->groups.data);
    seal->groups.data = ordered;
    seal->groups.capacity = count;
    mrd__free(keys);
}

/* ---- Names of tracks ---- */

/* "category:id", with the scope between them where there is one. */
static mrd__str_id async_name(mrd__sealing *seal, const mrd__group *group)
{
    mrd__buf text = {0};
    const mrd__str_id parts[] = {group->category, group->id_scope, group->id};
    for (size_t i = 0; i < 3; i++) {
        if (parts[i] == 0) continue;
        if (text.size > 0) mrd__buf_char(&text, ':');
        mrd__buf_str(&text, seal->strings.data[parts[i]]);
    }
    mrd__str_id id = mrd__seal_string(seal, text.data, text.size);
    mrd__buf_reset(&text);
    return id;
}

static mrd__str_id counter_name(mrd__sealing *seal, const mrd__group *group)
{
    mrd__buf text = {0};
    mrd__buf_str(&text, seal->strings.data[group->name]);
    if (group->series != 0) mrd__buf_char(&text, ' ');
    mrd__buf_str(&text, seal->strings.data[group->series]);
    mrd__str_id id = mrd__seal_string(seal, text.data, text.size);
    mrd__buf_reset(&text);
    return id;
}

void mrd__seal_track_names(mrd__sealing *seal)
{
    for (size_t g = 0; g < seal->groups.count; g++) {
        mrd__group *group = &seal->groups.data[g];
        if (group->own != MRD__NONE) continue;
        if (group->kind == MRD__TRACK_COUNTER) group->track_name = counter_name(seal, group);
        if (group->kind == MRD__TRACK_ASYNC) group->track_name = async_name(seal, group);
    }
}
