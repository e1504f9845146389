#include "session/record.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "session/live.h"
#include "session/sources/connection.h"
#include "session/sources/host.h"
#include "session/sources/tree.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* Clocks drift and machines sleep: the three are read together again so often. */
#define CLOCKS_NS UINT64_C(10000000000)
/* While something is being ended it is looked at so often. */
#define ENDING_NS UINT64_C(50000000)
/* Ten ticks of CPU time: half of it lies between any two readings. */
#define DISTANCE_NS UINT64_C(100000000)
/* Connections of one adapter that ended and whose pipes somebody still holds. */
enum {
    CONNECTIONS_MAX = 64,
    /* Sources of one run of an adapter whose ends are told by name; those of more end unnamed. */
    SOURCES_MAX = 1024,
};

typedef struct adapter {
    const char *command;
    uint64_t generation; /* the current one, from 1; 0: not started */
    uint64_t late;       /* lines of older generations, or after the end: dropped */
    bool over;           /* ended, and not started again */
} adapter;

/* A run of an adapter, and the sources that it brought. */
typedef struct run_of {
    mrd__connection connection;
    MRD__VEC(char *) sources;
    size_t last; /* looked at first: lines of one source come together */
} run_of;

typedef struct recorder {
    const mrd_record_options *options;
    mrd__live live;
    mrd__tree tree;
    mrd__host host;
    bool has_tree, has_host, target_ended;
    mrd__child child; /* of `-- CMD`; pid 0 once it was reaped */
    bool has_child;
    adapter adapters[MRD__ADAPTERS_MAX];
    run_of *runs[CONNECTIONS_MAX];
    size_t run_count;
    uint64_t start_ns, source_due_ns, read_ns, publish_due_ns, clocks_due_ns, ending_ns;
    uint64_t ticks, missed;
    bool ending;
    MRD__VEC(mrd_record_source) sources; /* for progress: kept between ticks */
    MRD__VEC(mrd_record_value) values;
    mrd_status status; /* of the first record that could not be written */
    mrd_error error;
} recorder;

static void keep(recorder *r, mrd_status status, const mrd_error *error)
{
    if (status == MRD_OK || r->status != MRD_OK) return;
    r->status = status;
    r->error = *error;
}

static void note(recorder *r, mrd__record_type type, const mrd__buf *json)
{
    mrd_error error = {0};
    keep(r, mrd__live_note(&r->live, type, (mrd__str){json->data, json->size}, &error), &error);
}

/* The public words are the frames' own. */
_Static_assert((int)MRD_SOURCE_STALE == (int)MRD__SOURCE_STALE &&
                   (int)MRD_SOURCE_ENDED == (int)MRD__SOURCE_ENDED,
               "states of sources");

/* ---- Adapters ---- */

static run_of *run_of_connection(const recorder *r, const mrd__connection *connection)
{
    for (size_t i = 0; i < r->run_count; i++) {
        if (&r->runs[i]->connection == connection) return r->runs[i];
    }
    return NULL;
}

static void note_source(run_of *run, mrd__str id)
{
    size_t count = run->sources.count;
    if (count > 0 && mrd__str_is(id, run->sources.data[run->last])) return;
    for (size_t i = 0; i < count; i++) {
        if (!mrd__str_is(id, run->sources.data[i])) continue;
        run->last = i;
        return;
    }
    if (count == SOURCES_MAX) return;
    char *kept = mrd__strndup(id.data, id.size);
    mrd__vec_push(&run->sources, kept);
    run->last = count;
}

static void take_line(void *ctx, mrd__connection *connection, const mrd__line *line,
                      uint64_t now_ns)
{
    recorder *r = ctx;
    adapter *of = &r->adapters[connection->adapter];
    if (connection->over || connection->generation != of->generation) {
        of->late++;
        return;
    }
    run_of *run = run_of_connection(r, connection);
    char name[32];
    snprintf(name, sizeof name, "adapter.%zu", connection->adapter);
    mrd__stamp stamp = {.host_ns = now_ns, .reconnect = connection->generation - 1, .target = 1};
    stamp.stops = mrd__str_of(run->sources.count == 1 ? run->sources.data[0] : name);
    mrd__encoded encoded = {0};
    mrd_error error = {0};
    keep(r,
         mrd__live_line(&r->live, line->bytes, line->size, line->ended, &stamp, &encoded, &error),
         &error);
    connection->stopped = connection->stopped || encoded.stopped;
    if (encoded.type == MRD__RECORD_RAW && !encoded.stopped) note_source(run, encoded.source_id);
}

static void add_outcome(mrd__buf *json, const mrd__connection_end *end)
{
    if (!end->reaped)
        mrd__buf_text(json, ",\"exit\":null");
    else if (WIFEXITED(end->wait_status))
        mrd__buf_printf(json, ",\"exit\":%d", WEXITSTATUS(end->wait_status));
    else
        mrd__buf_printf(json, ",\"signal\":%d", WTERMSIG(end->wait_status));
}

static void add_sources(const run_of *run, mrd__buf *json)
{
    mrd__buf_text(json, ",\"sources\":[");
    for (size_t i = 0; i < run->sources.count; i++) {
        if (i > 0) mrd__buf_char(json, ',');
        mrd__buf_json_string(json, mrd__str_of(run->sources.data[i]));
    }
    mrd__buf_char(json, ']');
}

static void take_end(void *ctx, mrd__connection *connection, const mrd__connection_end *end,
                     uint64_t now_ns)
{
    recorder *r = ctx;
    mrd__buf json = {0};
    mrd__buf_printf(&json, "{\"event\":\"stream-end\",\"adapter\":%zu,\"generation\":%llu",
                    connection->adapter, (unsigned long long)connection->generation);
    mrd__buf_printf(&json, ",\"hostNs\":%llu", (unsigned long long)now_ns);
    add_outcome(&json, end);
    mrd__buf_printf(&json, ",\"stopped\":%s,\"held\":%s,\"lines\":%llu,\"bytes\":%llu",
                    connection->stopped ? "true" : "false", end->held ? "true" : "false",
                    (unsigned long long)connection->lines.lines,
                    (unsigned long long)connection->lines.bytes);
    mrd__buf_printf(&json, ",\"stderrBytes\":%llu,\"stderr\":",
                    (unsigned long long)connection->diagnostic_bytes);
    mrd__buf_json_string(&json,
                         (mrd__str){connection->diagnostics.data, connection->diagnostics.size});
    add_sources(run_of_connection(r, connection), &json);
    mrd__buf_char(&json, '}');
    note(r, MRD__RECORD_LIFECYCLE, &json);
    const char *gap = end->held ? "pipe-held" : !connection->stopped ? "stop-missing" : NULL;
    if (gap != NULL) {
        mrd__buf_clear(&json);
        mrd__buf_printf(&json, "{\"gap\":\"%s\",\"adapter\":%zu,\"generation\":%llu}", gap,
                        connection->adapter, (unsigned long long)connection->generation);
        note(r, MRD__RECORD_GAP, &json);
    }
    mrd__buf_reset(&json);
}

static mrd_status start_adapter(recorder *r, size_t index, mrd_error *error)
{
    adapter *a = &r->adapters[index];
    if (r->run_count == CONNECTIONS_MAX)
        return mrd__fail(error, MRD_ERR_LIMIT, "adapters", "%d runs of adapters, no more are kept",
                         CONNECTIONS_MAX);
    mrd__connection_taker taker = {.ctx = r, .line = take_line, .end = take_end};
    run_of *run = mrd__new(run_of);
    mrd_status status =
        mrd__connection_start(&run->connection, a->command, index, a->generation + 1,
                              MRD__ENVELOPE_LINE_MAX, &taker, error);
    if (status != MRD_OK) {
        mrd__free(run);
        return status;
    }
    a->generation++;
    r->runs[r->run_count++] = run;
    mrd__buf json = {0};
    mrd__buf_printf(&json, "{\"event\":\"stream-start\",\"adapter\":%zu,\"generation\":%llu", index,
                    (unsigned long long)a->generation);
    mrd__buf_text(&json, ",\"command\":");
    mrd__buf_json_string(&json, mrd__str_of(a->command));
    mrd__buf_char(&json, '}');
    note(r, MRD__RECORD_LIFECYCLE, &json);
    mrd__buf_reset(&json);
    return MRD_OK;
}

/* After its end: again where that was asked for and it did not say that it stops. */
static void follow_up(recorder *r, mrd__connection *connection)
{
    adapter *a = &r->adapters[connection->adapter];
    if (a->over || connection->generation != a->generation || !connection->over) return;
    mrd_error error = {0};
    bool again = !r->ending && !connection->stopped && a->generation <= r->options->restarts;
    a->over = !again || start_adapter(r, connection->adapter, &error) != MRD_OK;
}

static void step_connections(recorder *r, uint64_t now_ns)
{
    for (size_t i = 0; i < r->run_count; i++) {
        mrd__connection *connection = &r->runs[i]->connection;
        if (connection->over && connection->child.out < 0 && connection->child.err < 0) continue;
        mrd__connection_step(connection, now_ns);
        follow_up(r, connection);
    }
}

static bool adapters_over(const recorder *r)
{
    for (size_t i = 0; i < r->options->adapter_count; i++) {
        if (!r->adapters[i].over) return false;
    }
    return true;
}

/* ---- Sources and publisher ---- */

static void take_reading(void *ctx, const mrd__reading *reading)
{
    recorder *r = ctx;
    mrd_error error = {0};
    keep(r, mrd__live_reading(&r->live, reading, mrd__monotonic_ns(), &error), &error);
}

/* The next time after now on the grid that starts at due; counts what was passed over. */
static uint64_t next_due(uint64_t due, uint64_t every, uint64_t now, uint64_t *missed)
{
    uint64_t steps = (now - due) / every;
    *missed += steps;
    return due + (steps + 1) * every;
}

/* CPU time comes in ticks of 10 ms: a rate over a moment would be nothing or twenty cores. No two
 * readings stand closer than this. */
static uint64_t least_distance(const recorder *r)
{
    uint64_t every = r->options->every_ns;
    return (every < DISTANCE_NS ? every : DISTANCE_NS) / 2;
}

static void read_sources(recorder *r, uint64_t now)
{
    r->read_ns = now;
    mrd__reading_sink sink = {r, take_reading};
    if (r->has_tree) mrd__tree_read(&r->tree, now, &sink);
    if (r->has_host) mrd__host_read(&r->host, &sink);
}

static void do_due(recorder *r, uint64_t now)
{
    mrd_error error = {0};
    uint64_t skipped = 0;
    if ((r->has_tree || r->has_host) && now >= r->source_due_ns) {
        read_sources(r, now);
        r->source_due_ns = next_due(r->source_due_ns, r->options->every_ns, now, &r->missed);
        if (r->source_due_ns - now < least_distance(r)) {
            r->source_due_ns += r->options->every_ns;
            r->missed++;
        }
    }
    if (now >= r->publish_due_ns) {
        keep(r, mrd__live_tick(&r->live, ++r->ticks, mrd__monotonic_ns(), &error), &error);
        r->publish_due_ns = next_due(r->publish_due_ns, r->options->publish_ns, now, &skipped);
    }
    if (now >= r->clocks_due_ns) {
        keep(r, mrd__live_clocks(&r->live, &error), &error);
        r->clocks_due_ns = next_due(r->clocks_due_ns, CLOCKS_NS, now, &skipped);
    }
}

/* ---- Progress ---- */

static void fill_sources(recorder *r)
{
    size_t count;
    const mrd__engine_source *sources = mrd__engine_sources(r->live.engine, &count);
    r->sources.count = 0;
    for (size_t i = 0; i < count; i++) {
        mrd_record_source source = {sources[i].id.data, sources[i].envelopes,
                                    (mrd_source_state)sources[i].state};
        mrd__vec_push(&r->sources, source);
    }
}

static void fill_values(recorder *r)
{
    size_t count;
    const mrd__engine_value *values = mrd__engine_values(r->live.engine, &count);
    r->values.count = 0;
    for (size_t i = 0; i < count; i++) {
        const mrd__series *series = values[i].series;
        mrd_record_value value = {
            .metric = series->metric.data,
            .unit = series->unit.data,
            .source = series->source.data,
            .key = series->key.data,
            .quality = mrd__quality_name(values[i].value.quality),
            .state = (mrd_source_state)values[i].state,
        };
        value.present = mrd__measured_get(values[i].value, &value.value);
        value.integer = mrd__measured_get_integer(values[i].value, &value.whole);
        if (values[i].framed) mrd__vec_push(&r->values, value);
    }
}

static void tell(recorder *r, uint64_t now)
{
    if (r->options->progress == NULL) return;
    mrd__engine_counts counts = mrd__engine_counted(r->live.engine);
    mrd__recording_state state;
    mrd__recording_state_get(r->live.recording, &state);
    fill_sources(r);
    fill_values(r);
    mrd_record_progress progress = {
        .elapsed_ns = now - r->start_ns,
        .events = state.reserved,
        .durable = state.durable,
        .samples = counts.samples,
        .decode_errors = counts.decode_errors,
        .gaps = counts.gaps,
        .refused = state.refused,
        .bytes = state.bytes,
        .sources = r->sources.data,
        .source_count = r->sources.count,
        .values = r->values.data,
        .value_count = r->values.count,
    };
    r->options->progress(r->options->progress_ctx, &progress);
}

/* ---- The loop ---- */

static void wait_for(recorder *r, uint64_t now)
{
    struct pollfd watch[3 + 3 * CONNECTIONS_MAX];
    nfds_t count = 0;
    if (r->options->stop_fd >= 0 && !r->ending)
        watch[count++] = (struct pollfd){.fd = r->options->stop_fd, .events = POLLIN};
    if (r->has_tree && !r->target_ended)
        watch[count++] = (struct pollfd){.fd = mrd__tree_root(&r->tree), .events = POLLIN};
    bool draining = r->ending;
    for (size_t i = 0; i < r->run_count; i++) {
        const mrd__connection *connection = &r->runs[i]->connection;
        const mrd__child *child = &connection->child;
        const int fds[] = {child->out, child->err, connection->reaped ? -1 : child->pidfd};
        for (size_t k = 0; k < 3; k++) {
            if (fds[k] >= 0) watch[count++] = (struct pollfd){.fd = fds[k], .events = POLLIN};
        }
        draining = draining || (connection->reaped && !connection->over);
    }
    uint64_t due = r->publish_due_ns;
    if ((r->has_tree || r->has_host) && r->source_due_ns < due) due = r->source_due_ns;
    if (draining && now + ENDING_NS < due) due = now + ENDING_NS;
    uint64_t left = due > now ? due - now : 0;
    struct timespec span = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
    ppoll(watch, count, &span, NULL);
}

static bool told_to_stop(const recorder *r)
{
    struct pollfd watch = {.fd = r->options->stop_fd, .events = POLLIN};
    return r->options->stop_fd >= 0 && poll(&watch, 1, 0) > 0;
}

/* Why it is time to end; NULL: it is not. Static. */
static const char *end_reason(recorder *r, uint64_t now)
{
    if (r->status != MRD_OK) return "failed";
    if (told_to_stop(r)) return "asked";
    if (r->options->duration_ns > 0 && now - r->start_ns >= r->options->duration_ns)
        return "duration";
    if (r->has_tree && !mrd__process_runs(&r->tree.members.data[0])) {
        r->target_ended = true;
        return "target-ended";
    }
    bool alone = !r->has_tree && r->options->adapter_count > 0 && adapters_over(r);
    return alone ? "adapters-ended" : NULL;
}

static const char *run(recorder *r)
{
    const char *why = NULL;
    while (why == NULL) {
        uint64_t now = mrd__monotonic_ns();
        uint64_t published = r->ticks;
        do_due(r, now);
        step_connections(r, now);
        if (r->ticks != published) tell(r, now);
        why = end_reason(r, now);
        if (why == NULL) wait_for(r, now);
    }
    return why;
}

/* No new reads; what runs is asked to stop, and drained. */
static void wind_down(recorder *r)
{
    uint64_t now = mrd__monotonic_ns();
    r->ending = true;
    r->ending_ns = now;
    if (r->has_tree || r->has_host) {
        if (now - r->read_ns < least_distance(r)) {
            const struct timespec rest = {0, (long)(least_distance(r) - (now - r->read_ns))};
            nanosleep(&rest, NULL);
            now = mrd__monotonic_ns();
        }
        read_sources(r, now); /* a zombie still tells its CPU time */
    }
    if (r->has_child) mrd__child_signal(&r->child, SIGTERM, false);
    for (size_t i = 0; i < r->run_count; i++)
        mrd__connection_stop(&r->runs[i]->connection, now);
    bool open = true;
    while (open) {
        now = mrd__monotonic_ns();
        step_connections(r, now);
        open = !adapters_over(r);
        r->publish_due_ns = r->source_due_ns = UINT64_MAX;
        if (open) wait_for(r, now);
    }
    int status;
    while (r->has_child && !mrd__child_ended(&r->child, &status) &&
           mrd__monotonic_ns() - r->ending_ns < MRD__DRAIN_NS)
        wait_for(r, mrd__monotonic_ns());
}

/* ---- Start and end ---- */

static void add_target(const recorder *r, mrd__buf *out)
{
    const mrd_record_options *options = r->options;
    mrd__buf_char(out, '{');
    if (r->has_tree) {
        const mrd__process *root = &r->tree.members.data[0];
        mrd__buf_printf(out, "\"pid\":%d,\"pidfdInode\":\"%llu\",\"startTicks\":\"%llu\",",
                        (int)root->pid, (unsigned long long)root->identity.inode,
                        (unsigned long long)root->identity.start_ticks);
    }
    mrd__buf_text(out, "\"command\":[");
    for (size_t i = 0; options->command != NULL && options->command[i] != NULL; i++) {
        if (i > 0) mrd__buf_char(out, ',');
        mrd__buf_json_string(out, mrd__str_of(options->command[i]));
    }
    mrd__buf_text(out, "],\"adapters\":[");
    for (size_t i = 0; i < options->adapter_count; i++) {
        if (i > 0) mrd__buf_char(out, ',');
        mrd__buf_json_string(out, mrd__str_of(options->adapters[i]));
    }
    mrd__buf_printf(out, "],\"host\":%s,\"everyNs\":%llu,\"publishNs\":%llu}",
                    options->host ? "true" : "false", (unsigned long long)options->every_ns,
                    (unsigned long long)options->publish_ns);
}

/* What is observed must be there before a folder is made for it. */
static mrd_status open_sources(recorder *r, mrd_error *error)
{
    pid_t pid = (pid_t)r->options->pid;
    if (r->options->command != NULL) {
        MRD__TRY(mrd__spawn_program(&r->child, r->options->command, error));
        r->has_child = true;
        pid = r->child.pid;
    }
    if (pid > 0) {
        MRD__TRY(mrd__tree_open(&r->tree, pid, error));
        r->has_tree = true;
    }
    if (r->options->host) {
        mrd__host_open(&r->host);
        r->has_host = true;
    }
    return MRD_OK;
}

static mrd_status begin(recorder *r, mrd_error *error)
{
    mrd__buf target = {0};
    add_target(r, &target);
    mrd_status status =
        mrd__live_create(&r->live, r->options->dir, (mrd__str){target.data, target.size}, error);
    mrd__buf_reset(&target);
    r->start_ns = mrd__monotonic_ns();
    r->source_due_ns = r->start_ns;
    r->publish_due_ns = r->start_ns + r->options->publish_ns;
    r->clocks_due_ns = r->start_ns + CLOCKS_NS;
    for (size_t i = 0; status == MRD_OK && i < r->options->adapter_count; i++) {
        r->adapters[i].command = r->options->adapters[i];
        status = start_adapter(r, i, error);
    }
    return status;
}

static mrd_status end(recorder *r, const char *why, mrd_record_result *result, mrd_error *error)
{
    mrd__buf json = {0};
    uint64_t late = 0;
    /* Room may have been made meanwhile; without it DIR.open is left for recover. */
    if (r->status != MRD_OK && mrd__recording_retry(r->live.recording, NULL) != MRD_OK) {
        if (error != NULL) *error = r->error;
        return r->status;
    }
    for (size_t i = 0; i < r->options->adapter_count; i++)
        late += r->adapters[i].late;
    mrd__buf_printf(&json, "{\"event\":\"end\",\"why\":\"%s\",\"hostNs\":%llu,", why,
                    (unsigned long long)mrd__monotonic_ns());
    mrd__buf_printf(&json, "\"lateLines\":%llu,\"missedReadings\":%llu,\"ticks\":%llu}",
                    (unsigned long long)late, (unsigned long long)r->missed,
                    (unsigned long long)r->ticks);
    if (r->status != MRD_OK) mrd__live_incomplete(&r->live, "writer_failed");
    mrd__recording_state state;
    mrd__recording_state_get(r->live.recording, &state);
    mrd__engine_counts counts = mrd__engine_counted(r->live.engine);
    mrd_status status =
        mrd__live_finish(&r->live, (mrd__str){json.data, json.size}, &result->completed, error);
    mrd__buf_reset(&json);
    result->events = state.reserved;
    result->samples = counts.samples;
    result->decode_errors = counts.decode_errors;
    result->gaps = counts.gaps;
    result->beyond_limit = counts.beyond_limit;
    result->late_lines = late;
    if (status == MRD_OK && r->status != MRD_OK && error != NULL) *error = r->error;
    return status != MRD_OK ? status : r->status;
}

static void close_all(recorder *r)
{
    for (size_t i = 0; i < r->run_count; i++) {
        run_of *run = r->runs[i];
        mrd__connection_close(&run->connection);
        for (size_t k = 0; k < run->sources.count; k++)
            mrd__free(run->sources.data[k]);
        mrd__vec_reset(&run->sources);
        mrd__free(run);
    }
    if (r->has_tree) mrd__tree_close(&r->tree);
    if (r->has_host) mrd__host_close(&r->host);
    if (r->has_child) mrd__child_close(&r->child, false);
    mrd__vec_reset(&r->sources);
    mrd__vec_reset(&r->values);
    mrd__live_destroy(&r->live);
}

mrd_status mrd__session_record(const mrd_record_options *options, mrd_record_result *result,
                               mrd_error *error)
{
    if (options->adapter_count > MRD__ADAPTERS_MAX)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "adapters", "%zu adapters, allowed are %d",
                         options->adapter_count, MRD__ADAPTERS_MAX);
    *result = (mrd_record_result){0};
    recorder *r = mrd__new(recorder);
    r->options = options;
    mrd_status status = open_sources(r, error);
    if (status == MRD_OK) status = begin(r, error);
    if (status == MRD_OK && options->begun != NULL) options->begun(options->begun_ctx);
    if (status == MRD_OK) {
        const char *why = run(r);
        wind_down(r);
        status = end(r, why, result, error);
    }
    close_all(r);
    mrd__free(r);
    return status;
}
