#include "seal_kit.h"

#include <string.h>

static uint32_t intern(mrd__shard *shard, const char *text, uint64_t position)
{
    return text == NULL ? 0 : mrd__shard_string(shard, text, strlen(text), position);
}

static void write_fact(mrd__shard *shard, const kit_fact *f, uint64_t position)
{
    mrd__ident pid = {.kind = MRD__IDENT_NUMBER, .number = f->pid};
    mrd__ident tid = {.kind = f->tid < 0 ? MRD__IDENT_NONE : MRD__IDENT_NUMBER, .number = f->tid};
    uint32_t name = intern(shard, f->name, position);
    uint32_t category = intern(shard, f->category, position);
    uint32_t extra = intern(shard, f->series, position);
    if (f->id != NULL || f->bind_id != NULL) {
        mrd__side side = {.id = intern(shard, f->id, position),
                          .scope = intern(shard, f->scope, position),
                          .bind_id = intern(shard, f->bind_id, position),
                          .flags = f->side_flags};
        extra = mrd__shard_side(shard, side);
    }
    uint64_t args = f->args == NULL ? 0 : mrd__shard_own_args(shard, f->args, strlen(f->args));
    uint32_t thread = mrd__shard_thread(shard, pid, tid);
    mrd__fact *fact = mrd__shard_push(shard);
    fact->ts = f->ts;
    if (f->phase == MRD__COUNTER)
        fact->value = f->value;
    else
        fact->dur = f->dur;
    fact->name = name;
    fact->category = category;
    fact->thread = thread;
    fact->extra = extra;
    fact->args = args;
    fact->phase = (uint64_t)f->phase & 0xff;
    fact->flags = f->flags;
    if (args != 0) fact->flags = f->flags | MRD__ARGS_OWNED;
    mrd__shard_count(shard, 'X');
}

static void write_rubbish(mrd__shard *shard, uint64_t position)
{
    static const kit_fact rubbish = {.phase = MRD__COMPLETE,
                                     .ts = 1,
                                     .dur = 1,
                                     .name = "rubbish",
                                     .pid = 999,
                                     .tid = 999,
                                     .args = "{\"rubbish\": 1}"};
    for (int i = 0; i < 3; i++)
        write_fact(shard, &rubbish, position);
    mrd__shard_loss(shard, MRD__LOSS_BAD_EVENT, 0, 5, 1, "rubbish", 7);
    mrd__shard_metadata(shard, MRD__STR("rubbish"), MRD__STR("1"), 0);
    mrd__shard_discard(shard);
}

static void write_list(mrd__writer *writer, uint32_t file, const kit_fact *facts, size_t count,
                       kit_split split)
{
    mrd__shard *shards[8];
    for (uint32_t s = 0; s < split.shards; s++)
        shards[s] = mrd__writer_shard(writer, file);
    uint64_t order = 0;
    for (size_t from = 0; from < count; from += split.chunk, order++) {
        /* Some shard, not in turn. */
        mrd__shard *shard = shards[(order * 5 + order / 3) % split.shards];
        mrd__shard_chunk(shard, order + 1);
        if (split.rubbish) write_rubbish(shard, from * 100);
        for (size_t i = from; i < count && i < from + split.chunk; i++)
            write_fact(shard, &facts[i], i * 100);
        if (from == 0) mrd__shard_metadata(shard, MRD__STR("key"), MRD__STR("value"), 0);
    }
}

mrd__store *kit_seal(const kit_fact *facts, size_t count, kit_split split)
{
    return kit_seal_two(facts, count, count, split);
}

mrd__store *kit_seal_two(const kit_fact *facts, size_t count, size_t first, kit_split split)
{
    mrd__writer *writer = mrd__writer_create();
    uint32_t b = mrd__writer_add_file(writer, "b.json", "chrome_json", 0, NULL);
    write_list(writer, b, facts, first, split);
    if (first < count) {
        uint32_t a = mrd__writer_add_file(writer, "a.json", "chrome_json", 0, NULL);
        write_list(writer, a, facts + first, count - first, split);
    }
    mrd__store *store = NULL;
    mrd_error error = {0};
    mrd_status status = mrd__seal(&writer, split.workers, &store, &error);
    return status == MRD_OK ? store : NULL;
}

static void put_string(mrd__buf *out, const mrd__store *store, mrd__str_id id)
{
    mrd__buf_printf(out, " %u:", id);
    mrd__buf_json_string(out, mrd__store_str(store, id));
}

static void put_ident(mrd__buf *out, const mrd__store *store, mrd__ident ident)
{
    mrd__buf_printf(out, " %d/%lld", ident.kind, (long long)ident.number);
    put_string(out, store, ident.text);
}

static void put_args(mrd__buf *out, const mrd__store *store, mrd__args_ref ref)
{
    mrd__str text;
    mrd__buf scratch = {0};
    if (mrd__store_args(store, ref, &scratch, &text, NULL) == MRD_OK) {
        mrd__buf_char(out, ' ');
        mrd__buf_str(out, text);
    }
    mrd__buf_reset(&scratch);
}

static void put_tracks(mrd__buf *out, const mrd__store *store)
{
    for (size_t p = 0; p < store->process_count; p++) {
        const mrd__process *process = &store->processes[p];
        mrd__buf_printf(out, "process %lld", (long long)process->sort_index);
        put_ident(out, store, process->pid);
        put_string(out, store, process->name);
        put_string(out, store, process->labels);
        for (uint32_t n = 0; n < process->name_count; n++)
            put_string(out, store, store->process_names[process->name_first + n]);
        mrd__buf_char(out, '\n');
    }
    for (size_t t = 0; t < store->thread_count; t++) {
        const mrd__thread *thread = &store->threads[t];
        mrd__buf_printf(out, "thread %u %lld", thread->process, (long long)thread->sort_index);
        put_ident(out, store, thread->tid);
        put_string(out, store, thread->name);
        mrd__buf_char(out, '\n');
    }
    for (size_t t = 0; t < store->track_count; t++) {
        const mrd__track *track = &store->tracks[t];
        mrd__buf_printf(out,
                        "track %d/%d parent %d process %d thread %d rows %u+%u range %llu+%llu",
                        track->kind, track->scope, (int)track->parent, (int)track->process,
                        (int)track->thread, track->first_row, track->row_count,
                        (unsigned long long)track->first, (unsigned long long)track->count);
        mrd__buf_printf(out, " file %u", track->file);
        put_string(out, store, track->name);
        put_string(out, store, track->series);
        mrd__buf_char(out, '\n');
    }
}

static void put_slices(mrd__buf *out, const mrd__store *store)
{
    const mrd__slices *s = &store->slices;
    for (uint32_t r = 0; r < store->rows.row_count; r++)
        mrd__buf_printf(out, "row %llu track %u depth %u line %u\n",
                        (unsigned long long)store->rows.first[r], store->row_infos[r].track,
                        store->row_infos[r].depth, store->row_infos[r].line);
    for (uint64_t i = 0; i < s->count; i++) {
        mrd__buf_printf(out, "slice %.17g %.17g %lld %lld parent %d flags %u order %u", s->start[i],
                        s->end[i], (long long)mrd__store_slice_start(store, i),
                        (long long)mrd__store_slice_end(store, i), (int)s->parent[i], s->flags[i],
                        s->order[i]);
        put_string(out, store, s->name[i]);
        put_string(out, store, s->category[i]);
        put_args(out, store, s->args[i]);
        mrd__buf_char(out, '\n');
    }
}

static void put_points(mrd__buf *out, const mrd__store *store)
{
    for (uint64_t i = 0; i < store->instants.count; i++) {
        mrd__buf_printf(out, "instant %.17g %lld order %u", store->instants.time[i],
                        (long long)mrd__store_instant_time(store, i), store->instants.order[i]);
        put_string(out, store, store->instants.name[i]);
        put_args(out, store, store->instants.args[i]);
        mrd__buf_char(out, '\n');
    }
    for (uint64_t i = 0; i < store->counters.count; i++)
        mrd__buf_printf(out, "counter %.17g %lld value %.17g order %u\n", store->counters.time[i],
                        (long long)mrd__store_counter_time(store, i), store->counters.value[i],
                        store->counters.order[i]);
    for (size_t i = 0; i < store->flow_count; i++) {
        const mrd__flow *flow = &store->flows[i];
        mrd__buf_printf(out, "flow %u -> %u %.17g %.17g by %u %u", flow->from, flow->to,
                        flow->from_time, flow->to_time, store->flow_by_from[i],
                        store->flow_by_to[i]);
        put_string(out, store, flow->id);
        mrd__buf_char(out, '\n');
    }
}

void kit_text(const mrd__store *store, mrd__buf *out)
{
    mrd__buf_printf(out, "origin %lld empty %d bounds %lld %lld view %lld %lld unclosed %llu\n",
                    (long long)store->origin_ns, store->empty, (long long)store->start_ns,
                    (long long)store->end_ns, (long long)store->view_start_ns,
                    (long long)store->view_end_ns, (unsigned long long)store->unclosed);
    for (size_t i = 0; i < store->string_count; i++) {
        mrd__buf_printf(out, "string %zu ", i);
        mrd__buf_json_string(out, store->strings[i]);
        mrd__buf_char(out, '\n');
    }
    put_tracks(out, store);
    put_slices(out, store);
    put_points(out, store);
    for (size_t i = 0; i < store->loss_count; i++) {
        const mrd__loss *loss = &store->losses[i];
        mrd__buf_printf(out, "loss %d file %u count %llu offset %lld worst %lld %s\n", loss->id,
                        loss->file, (unsigned long long)loss->count, (long long)loss->offset,
                        (long long)loss->worst_ns, loss->excerpt);
    }
    for (size_t i = 0; i < store->metadata_count; i++) {
        put_string(out, store, store->metadata[i].key);
        put_string(out, store, store->metadata[i].value);
        mrd__buf_char(out, '\n');
    }
    for (size_t f = 0; f < store->file_count; f++)
        mrd__buf_printf(out, "file %s events %llu\n", store->files[f].path,
                        (unsigned long long)store->files[f].events);
}
