/* One run: simulate, write its trace, put its row into the store. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "base/sha256.h"
#include "events/command_file.h"
#include "events/event_file.h"
#include "results/files.h"
#include "results/run.h"

/* ---- What a result says ---- */

static void per_chip_json(const mrd__sim_result *r, mrd__buf *out)
{
    mrd__buf_char(out, '[');
    for (size_t i = 0; i < r->per_chip.count; i++) {
        const mrd__sim_chip_result *chip = &r->per_chip.data[i];
        mrd__buf_printf(out, "%s{\"chip_id\":%u,\"latency_ns\":", i ? "," : "", chip->chip_id);
        mrd__buf_double(out, chip->latency_ns);
        mrd__buf_text(out, ",\"cdma_blocked_ns\":");
        mrd__buf_double(out, chip->cdma_blocked_ns);
        mrd__buf_printf(out, ",\"is_straggler\":%s", chip->is_straggler ? "true" : "false");
        if (chip->chip_id == r->straggler_chip && r->straggler_reason[0]) {
            mrd__buf_text(out, ",\"reason\":");
            mrd__buf_json_string(out, mrd__str_of(r->straggler_reason));
        }
        mrd__buf_char(out, '}');
    }
    mrd__buf_char(out, ']');
}

static void member(mrd__buf *out, const char *name, double value)
{
    mrd__buf_printf(out, ",\"%s\":", name);
    mrd__buf_double(out, value);
}

static void summary_json(const mrd__run *run, mrd__buf *out)
{
    const mrd__sim_result *r = &run->result;
    mrd__buf_text(out, "{\"total_latency_ns\":");
    mrd__buf_double(out, r->total_latency_ns);
    mrd__buf_printf(out,
                    ",\"total_comm_bytes\":%llu,\"num_participants\":%u,\"algorithm_steps\":%llu",
                    (unsigned long long)r->total_comm_bytes, r->num_participants,
                    (unsigned long long)r->algorithm_steps);
    member(out, "bus_bw_gb_per_s", r->bus_bw_gb_per_s);
    member(out, "alg_bw_gb_per_s", r->alg_bw_gb_per_s);
    member(out, "ideal_latency_ns", r->ideal_latency_ns);
    member(out, "data_done_ns", r->data_done_ns);
    mrd__buf_printf(out, ",\"bottleneck\":\"%s\",\"algorithm_used\":\"%s\",\"events\":%llu",
                    r->bottleneck, mrd__sim_algorithm_name(r->algorithm_used),
                    (unsigned long long)r->events);
    mrd__buf_printf(out, ",\"packets\":%llu", (unsigned long long)r->packets);
    member(out, "wall_ms", run->wall_ms);
    if (r->warning[0]) {
        mrd__buf_text(out, ",\"warning\":");
        mrd__buf_json_string(out, mrd__str_of(r->warning));
    }
    mrd__buf_char(out, '}');
}

static void result_json(const mrd__run *run, mrd__buf *out)
{
    const mrd__sim_result *r = &run->result;
    mrd__buf_text(out, "{\"summary\":");
    summary_json(run, out);
    mrd__buf_text(out, ",\"per_chip\":");
    per_chip_json(r, out);
    mrd__buf_printf(out, ",\"straggler\":{\"chip_id\":%u", r->straggler_chip);
    member(out, "ratio", r->straggler_ratio);
    member(out, "blocked_ns", r->straggler_blocked_ns);
    mrd__buf_text(out, ",\"reason\":");
    if (r->straggler_reason[0])
        mrd__buf_json_string(out, mrd__str_of(r->straggler_reason));
    else
        mrd__buf_text(out, "null");
    mrd__buf_text(out, "},\"stats\":");
    mrd__buf_str(out, (mrd__str){r->stats.data, r->stats.size});
    mrd__buf_text(out, ",\"trace_file_path\":");
    if (run->trace.size)
        mrd__buf_json_string(out, (mrd__str){run->trace.data, run->trace.size});
    else
        mrd__buf_text(out, "null");
    if (run->id)
        mrd__buf_printf(out, ",\"result_id\":%lld}\n", (long long)run->id);
    else
        mrd__buf_text(out, ",\"result_id\":null}\n");
}

static void line(mrd__buf *out, const char *name, double value, const char *unit)
{
    mrd__buf_printf(out, "%-12s ", name);
    mrd__buf_double(out, value);
    mrd__buf_printf(out, " %s\n", unit);
}

static void result_text(const mrd__run *run, mrd__buf *out)
{
    const mrd__sim_result *r = &run->result;
    mrd__buf_printf(out, "%s %s on %s, %u chips, %lld bytes\n",
                    mrd__sim_primitive_name(run->spec.primitive),
                    mrd__sim_algorithm_name(r->algorithm_used), run->spec.topology,
                    r->num_participants, (long long)run->spec.msg_size_bytes);
    line(out, "latency", r->total_latency_ns, "ns");
    line(out, "data done", r->data_done_ns, "ns");
    line(out, "ideal", r->ideal_latency_ns, "ns");
    mrd__buf_printf(out, "%-12s %.3f GB/s (algorithm %.3f)\n", "bus", r->bus_bw_gb_per_s,
                    r->alg_bw_gb_per_s);
    mrd__buf_printf(out, "%-12s %s\n", "bottleneck", r->bottleneck);
    mrd__buf_printf(out, "%-12s chip %u, ratio %.3f%s%s\n", "slowest", r->straggler_chip,
                    r->straggler_ratio, r->straggler_reason[0] ? ", straggler: " : "",
                    r->straggler_reason);
    double seconds = run->wall_ms / 1000;
    mrd__buf_printf(out, "%-12s %llu (%.1f a packet) in %.1f ms", "events",
                    (unsigned long long)r->events,
                    r->packets ? (double)r->events / (double)r->packets : 0, run->wall_ms);
    if (seconds > 0)
        mrd__buf_printf(out, ", %.2f M/s, %.2f M packets/s", (double)r->events / seconds / 1e6,
                        (double)r->packets / seconds / 1e6);
    mrd__buf_char(out, '\n');
    if (r->warning[0]) mrd__buf_printf(out, "%-12s %s\n", "warning", r->warning);
    if (run->trace.size)
        mrd__buf_printf(out, "%-12s %s, %llu records%s\n", "trace", run->trace.data,
                        (unsigned long long)r->records, r->truncated ? ", cut at the limit" : "");
    if (run->id) mrd__buf_printf(out, "%-12s %lld\n", "result", (long long)run->id);
}

/* ---- The row ---- */

typedef struct row {
    MRD__VEC(mrd__field) fields;
    mrd__buf texts[32];
    size_t used;
} row;

/* The buffer of the next field's value; its text is taken when the row is done. */
static mrd__buf *value(row *r, const char *name)
{
    mrd__field field = {name, {NULL, 0}};
    mrd__vec_push(&r->fields, field);
    return &r->texts[r->used++];
}

static void candidates_json(const mrd__sim_result *r, mrd__buf *out)
{
    mrd__buf_char(out, '[');
    for (size_t i = 0; i < r->candidate_count; i++) {
        mrd__buf_printf(out, "%s{\"algorithm\":\"%s\",\"closed_form_ns\":", i ? "," : "",
                        mrd__sim_algorithm_name(r->candidates[i].algorithm));
        mrd__buf_double(out, r->candidates[i].closed_form_ns);
        mrd__buf_char(out, '}');
    }
    mrd__buf_char(out, ']');
}

static void spec_fields(const mrd__run *run, row *r)
{
    static const char *const dtypes[] = {"fp32", "fp16", "bf16", "fp8", "int8"};
    char hash[65];
    mrd__buf *snapshot = value(r, "config_snapshot");
    mrd__sim_spec_json(&run->spec, snapshot);
    mrd__sha256_hex(snapshot->data, snapshot->size, hash);
    mrd__buf_text(value(r, "config_hash"), hash);
    mrd__buf_text(value(r, "primitive"), mrd__sim_primitive_name(run->spec.primitive));
    mrd__buf_text(value(r, "algorithm"), mrd__sim_algorithm_name(run->spec.algorithm));
    mrd__buf_int(value(r, "msg_size_bytes"), run->spec.msg_size_bytes);
    mrd__buf_text(value(r, "topology_name"), run->spec.topology);
    mrd__buf_text(value(r, "dtype"), dtypes[run->spec.dtype]);
    mrd__buf_int(value(r, "seed"), run->spec.seed);
    mrd__buf_text(value(r, "program_version"), mrd_version());
}

static void result_fields(const mrd__run *run, row *r)
{
    const mrd__sim_result *s = &run->result;
    mrd__buf_uint(value(r, "num_participants"), s->num_participants);
    mrd__buf_double(value(r, "total_latency_ns"), s->total_latency_ns);
    mrd__buf_double(value(r, "max_chip_latency_ns"), s->total_latency_ns);
    mrd__buf_double(value(r, "bus_bw_gb_per_s"), s->bus_bw_gb_per_s);
    mrd__buf_double(value(r, "alg_bw_gb_per_s"), s->alg_bw_gb_per_s);
    mrd__buf_double(value(r, "straggler_ratio"), s->straggler_ratio);
    mrd__buf_uint(value(r, "total_comm_bytes"), s->total_comm_bytes);
    mrd__buf_uint(value(r, "algorithm_steps"), s->algorithm_steps);
    per_chip_json(s, value(r, "per_chip_summary"));
    mrd__buf *stats = value(r, "stats");
    if (s->stats.size <= MRD__RESULTS_FIELD_MAX)
        mrd__buf_str(stats, (mrd__str){s->stats.data, s->stats.size});
    else /* said, not cut */
        mrd__buf_printf(stats, "{\"too_large_bytes\":%zu}", s->stats.size);
    mrd__buf_double(value(r, "ideal_latency_ns"), s->ideal_latency_ns);
    mrd__buf_double(value(r, "data_done_ns"), s->data_done_ns);
    mrd__buf_text(value(r, "bottleneck"), s->bottleneck);
    mrd__buf_uint(value(r, "events"), s->events);
    mrd__buf_double(value(r, "wall_ms"), run->wall_ms);
    mrd__buf_text(value(r, "algorithm_used"), mrd__sim_algorithm_name(s->algorithm_used));
    if (s->candidate_count) candidates_json(s, value(r, "auto_candidates"));
}

static void row_reset(row *r)
{
    for (size_t i = 0; i < r->used; i++)
        mrd__buf_reset(&r->texts[i]);
    mrd__vec_reset(&r->fields);
}

/* ---- Storing ---- */

static mrd_status move(const char *from, const char *to, mrd_error *error)
{
    if (rename(from, to) == 0) return MRD_OK;
    return mrd__fail_errno(error, to, "cannot rename to");
}

/* The files get their final names; the row names them. */
static mrd_status place_trace(mrd__run *run, mrd_error *error)
{
    mrd__results *results = run->request->results;
    mrd__buf name = {0}, full = {0}, records = {0};
    mrd__trace_name(run->experiment, run->id, &name);
    mrd__buf_printf(&full, "%s/%s", results->data_dir, name.data);
    mrd__records_name((mrd__str){full.data, full.size}, &records);
    mrd_status status = move(run->records_file.data, records.data, error);
    if (status == MRD_OK) status = move(run->trace_file.data, full.data, error);
    if (status == MRD_OK)
        status = mrd__set_trace_path(results, run->id, (mrd__str){name.data, name.size}, error);
    mrd__buf_reset(&run->trace_file);
    mrd__buf_reset(&run->records_file);
    run->trace_file = full; /* where they are now, for a failure further on */
    run->records_file = records;
    run->trace = name;
    return status;
}

void mrd__run_key(const char *experiment, uint64_t index, const char *spec, char *out)
{
    char hex[65];
    mrd__buf text = {0};
    mrd__buf_printf(&text, "%s\n%llu\n%s", experiment ? experiment : "default",
                    (unsigned long long)index, spec);
    mrd__sha256_hex(text.data, text.size, hex);
    mrd__buf_reset(&text);
    /* Version 8 of UUIDs: made of a hash of one's own. */
    snprintf(out, MRD__RUN_KEY, "%.8s-%.4s-8%.3s-8%.3s-%.12s", hex, hex + 8, hex + 12, hex + 15,
             hex + 18);
}

/* With the mutex held. */
static mrd_status find_key(mrd__run *run, mrd_error *error)
{
    int64_t id;
    mrd__db_value value = MRD__DB_OF_TEXT(mrd__str_of(run->request->key));
    return mrd__db_int(run->request->results->db,
                       "SELECT min(id) FROM comm_eval_results WHERE task_id = ?", &value, 1, &id,
                       &run->there, error);
}

static mrd_status look_for_key(mrd__run *run, mrd_error *error)
{
    mrd__results *results = run->request->results;
    if (!run->request->key || !results) return MRD_OK;
    pthread_mutex_lock(&results->mutex);
    mrd_status status = find_key(run, error);
    pthread_mutex_unlock(&results->mutex);
    return status;
}

static mrd_status store_inside(mrd__run *run, const row *r, mrd_error *error)
{
    const mrd__run_request *request = run->request;
    const char *task = request->key ? request->key : request->task_id;
    if (request->key) MRD__TRY(find_key(run, error));
    if (run->there) return MRD_OK; /* another process was quicker */
    MRD__TRY(mrd__insert_row(request->results, run->experiment, task, r->fields.data,
                             r->fields.count, &run->id, error));
    if (run->trace_file.size) MRD__TRY(place_trace(run, error));
    if (!request->task_id) return MRD_OK;
    return mrd__task_done(request->results, request->task_id, run->id, error);
}

static mrd_status store(mrd__run *run, mrd_error *error)
{
    mrd__results *results = run->request->results;
    row r = {0};
    spec_fields(run, &r);
    result_fields(run, &r);
    for (size_t i = 0; i < r.used; i++)
        r.fields.data[i].value = (mrd__str){r.texts[i].data, r.texts[i].size};
    pthread_mutex_lock(&results->mutex);
    mrd_status status = mrd__db_begin(results->db, error);
    if (status == MRD_OK) status = mrd__db_finish(results->db, store_inside(run, &r, error), error);
    pthread_mutex_unlock(&results->mutex);
    row_reset(&r);
    return status;
}

/* ---- Running ---- */

/* The experiment, and the names the trace is written under. */
static mrd_status prepare_store(mrd__run *run, mrd_error *error)
{
    mrd__results *results = run->request->results;
    uint64_t random;
    char owner[MRD__OWNER];
    pthread_mutex_lock(&results->mutex);
    mrd_status status = mrd__db_begin(results->db, error);
    if (status == MRD_OK)
        status = mrd__db_finish(
            results->db,
            mrd__ensure_experiment(results, run->request->experiment, &run->experiment, error),
            error);
    if (status == MRD_OK && run->spec.trace_enabled)
        status = mrd__trace_folder(results, run->experiment, &run->trace_file, error);
    pthread_mutex_unlock(&results->mutex);
    if (status != MRD_OK || !run->spec.trace_enabled) return status;
    mrd__random_bytes(&random, sizeof random);
    mrd__owner_text(owner);
    mrd__buf_printf(&run->trace_file, "/run-%s_%016llx_trace.parquet", owner,
                    (unsigned long long)random);
    mrd__records_name((mrd__str){run->trace_file.data, run->trace_file.size}, &run->records_file);
    return MRD_OK;
}

static mrd_status prepare(mrd__run *run, mrd_error *error)
{
    const mrd__run_request *request = run->request;
    if (request->trace) run->spec.trace_enabled = 1;
    if (request->results) return prepare_store(run, error);
    if (request->trace_path) {
        run->spec.trace_enabled = 1;
        mrd__buf_text(&run->trace_file, request->trace_path);
        mrd__buf_text(&run->trace, request->trace_path);
    }
    run->untraced = run->spec.trace_enabled && !request->trace_path;
    if (run->untraced) run->spec.trace_enabled = 0;
    return MRD_OK;
}

/* Progress has a context of its own beside the trace's. */
typedef struct observing {
    mrd__sim_observer trace;
    const mrd__run_request *request;
} observing;

static mrd_status pass_records(void *ctx, const mrd__event_record *records, size_t count,
                               mrd_error *error)
{
    const observing *o = ctx;
    return o->trace.records(o->trace.ctx, records, count, error);
}

static mrd_status pass_commands(void *ctx, const mrd__command_record *commands, size_t count,
                                mrd_error *error)
{
    const observing *o = ctx;
    return o->trace.commands(o->trace.ctx, commands, count, error);
}

static void pass_end(void *ctx, bool done, double sim_end_ns, bool truncated)
{
    const observing *o = ctx;
    o->trace.end(o->trace.ctx, done, sim_end_ns, truncated);
}

static bool pass_progress(void *ctx, uint64_t events, double done)
{
    const observing *o = ctx;
    return o->request->progress(o->request->progress_ctx, events, done);
}

static mrd_status simulate(mrd__run *run, mrd_error *error)
{
    observing o = {.request = run->request};
    mrd__sim_observer observer = {.ctx = &o, .limit = run->request->trace_limit};
    mrd__trace_job *job = NULL;
    mrd_error written = {0};
    if (run->request->progress) observer.progress = pass_progress;
    if (run->trace_file.size) {
        job = mrd__trace_job_start(
            run->trace_file.data, run->records_file.size ? run->records_file.data : NULL, &o.trace);
        o.trace.ctx = job;
        observer.records = pass_records;
        observer.commands = o.trace.commands ? pass_commands : NULL;
        observer.end = pass_end;
    }
    uint64_t start = mrd__monotonic_ns();
    mrd_status status = mrd__sim_run(&run->spec, &observer, &run->result, error);
    run->wall_ms = (double)(mrd__monotonic_ns() - start) / 1e6;
    if (!job) return status;
    mrd_status files = mrd__trace_job_end(job, &written);
    /* A run that ended because its trace could not be written fails with the file's reason. */
    bool of_file = files != MRD_OK && strcmp(written.code, "no_run") != 0;
    if (!of_file) return status;
    if (error) *error = written;
    return files;
}

/* Nothing of a run that failed stays. */
static void drop_files(const mrd__run *run)
{
    if (run->trace_file.size) unlink(run->trace_file.data);
    if (run->records_file.size) unlink(run->records_file.data);
}

static mrd_status carry_out(mrd__run *run, mrd_error *error)
{
    MRD__TRY(prepare(run, error));
    MRD__TRY(simulate(run, error));
    return run->request->results ? store(run, error) : MRD_OK;
}

mrd_status mrd__results_run(const mrd__run_request *request, mrd_format format, mrd__buf *out,
                            bool *untraced, mrd_error *error)
{
    mrd__run run = {.request = request};
    MRD__TRY(mrd__sim_spec_parse(&run.spec, request->spec, request->spec_size, error));
    mrd_status status = look_for_key(&run, error);
    if (status == MRD_OK && !run.there) status = carry_out(&run, error);
    bool told = status == MRD_OK && !run.there;
    if (told && format == MRD_FORMAT_JSON) result_json(&run, out);
    if (told && format == MRD_FORMAT_TEXT) result_text(&run, out);
    if ((status != MRD_OK || run.there) && request->results) drop_files(&run);
    if (untraced) *untraced = run.untraced;
    mrd__buf_reset(&run.trace);
    mrd__buf_reset(&run.trace_file);
    mrd__buf_reset(&run.records_file);
    mrd__sim_result_reset(&run.result);
    mrd__sim_spec_reset(&run.spec);
    return status;
}
