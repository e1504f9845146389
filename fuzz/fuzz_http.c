/* The HTTP door: the first byte picks the method, the rest of the line is the target, the next
 * lines are headers, then the body. The trace behind it is real, so that windows and details are
 * reached; so are a result, a session, and recordings that are started. What streams is read to its
 * end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os.h"
#include "own_folder.h"
#include "server/context.h"
#include "server/http.h"
#include "server/recordings.h"
#include "server/sessions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static mrd__server_context context;

mrd__server_context *mrd__server_context_of(struct mrd__server *server)
{
    (void)server;
    return &context;
}

static const char trace_text[] =
    "[{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":5,\"name\":\"a\",\"args\":{\"k\":7}},"
    "{\"ph\":\"i\",\"pid\":1,\"tid\":2,\"ts\":2,\"name\":\"b\"},"
    "{\"ph\":\"C\",\"pid\":1,\"ts\":2,\"name\":\"c\",\"args\":{\"v\":3}}]";

static char trace_path[64], records_path[64];

/* Trace 1, which most inputs ask. */
static void open_traces(void)
{
    const char *path = trace_path;
    int64_t id;
    mrd__trace_slot *slot = NULL;
    mrd_error error = {0};
    context.traces = mrd__traces_create(1, false, false);
    mrd__traces_allow(context.traces, own_folder);
    if (mrd__traces_open(context.traces, &path, 1, NULL, true, &id, &error) != MRD_OK) abort();
    while (mrd__traces_acquire(context.traces, id, &slot, &error) != MRD_OK)
        usleep(1000);
    mrd__traces_release(context.traces, slot);
}

static const char session_text[] =
    "{\"sourceId\":\"s\",\"kind\":\"proc.gauge\",\"hostReceiveMonotonicNs\":1000000000,"
    "\"payload\":{\"cpuUsage\":5,\"nCpu\":2}}\n"
    "{\"sourceId\":\"s\",\"kind\":\"proc.gauge\",\"hostReceiveMonotonicNs\":2000000000,"
    "\"payload\":{\"cpuUsage\":7,\"nCpu\":2}}\nno line\n{\"kind\":\"stopped\"}\n";

static void make_session(void)
{
    char lines[64], sessions[64], one[80];
    mrd_record_result result;
    snprintf(lines, sizeof lines, "%s/lines", own_folder);
    snprintf(sessions, sizeof sessions, "%s/sessions", own_folder);
    snprintf(one, sizeof one, "%s/one", sessions);
    if (mrd__file_write_atomic(lines, session_text, sizeof session_text - 1, NULL) != MRD_OK ||
        mrd__make_folders(sessions, NULL) != MRD_OK ||
        mrd_session_ingest(lines, one, &result, NULL) != MRD_OK)
        abort();
    context.data_dir = own_folder;
    context.recordings = mrd__recordings_create(own_folder);
}

/* A data folder with a trace to open by its name and one result with an event trace. */
static void open_once(void)
{
    mrd_error error = {0};
    mrd_params *fields = mrd_params_create();
    int64_t id;
    make_own_folder();
    snprintf(trace_path, sizeof trace_path, "%s/t.json", own_folder);
    snprintf(records_path, sizeof records_path, "%s/e.parquet", own_folder);
    if (mrd__file_write_atomic(trace_path, trace_text, sizeof trace_text - 1, &error) != MRD_OK ||
        mrd_gen_event_trace(records_path, 100, 1, &error) != MRD_OK ||
        mrd_results_open(own_folder, NULL, &context.results, &error) != MRD_OK)
        abort();
    mrd_params_add(fields, "primitive", "all_reduce", false);
    if (mrd_results_add(context.results, records_path, NULL, fields, true, &id, &error) != MRD_OK)
        abort();
    mrd_params_destroy(&fields);
    snprintf(context.address, sizeof context.address, "127.0.0.1");
    make_session();
    open_traces();
}

/* A recording that was started is ended, and its folder removed. */
static void end_recording(const mrd__reply *reply)
{
    char name[40], path[160];
    if (reply->status != 201 || sscanf(reply->body.data, "{\"name\":\"%36[0-9a-f-]\"}", name) != 1)
        return;
    mrd__recordings_destroy(&context.recordings);
    context.recordings = mrd__recordings_create(own_folder);
    snprintf(path, sizeof path, "%s/sessions/%s", own_folder, name);
    if (access(path, F_OK) != 0) abort(); /* it is sealed */
    remove_tree(path);
}

/* What comes after the reply's first bytes. */
static void read_streams(mrd__reply *reply)
{
    atomic_bool stopping = false;
    mrd__buf out = {0};
    bool more = reply->pull.next != NULL;
    while (more && reply->pull.next(reply->pull.ctx, &out, &more) == MRD_OK)
        mrd__buf_clear(&out);
    for (int i = 0; reply->follow != NULL && i < 8; i++) {
        if (!mrd__session_events(reply->follow, &stopping, 1, &out)) break;
        mrd__buf_clear(&out);
    }
    mrd__buf_reset(&out);
}

/* What a request opened is closed again, and what it closed is opened: inputs must not depend on
 * those before them. */
static void put_back(const mrd__request *request, const mrd__reply *reply)
{
    long long id;
    mrd_error error = {0};
    mrd__trace_slot *slot = NULL;
    if (reply->status == 202 && sscanf(reply->body.data, "{\"trace_id\":%lld}", &id) == 1 &&
        mrd__traces_close(context.traces, id, &error) != MRD_OK)
        abort();
    if (strcmp(request->method, "DELETE") != 0) return;
    if (mrd__traces_acquire(context.traces, 1, &slot, &error) == MRD_OK) {
        mrd__traces_release(context.traces, slot);
        return;
    }
    mrd__traces_destroy(&context.traces);
    open_traces();
}

/* Cut the next line off; returns it NUL-terminated inside text. */
static char *next_line(char **text)
{
    char *line = *text, *end = strchr(line, '\n');
    *text = end ? end + 1 : line + strlen(line);
    if (end) *end = 0;
    return line;
}

static void read_headers(mrd__request *request, char **text)
{
    while (**text && **text != '\n') {
        char *line = next_line(text), *value = strchr(line, ':');
        if (!value) continue;
        *value++ = 0;
        value += strspn(value, " ");
        if (strcmp(line, "Host") == 0)
            request->host = value;
        else if (strcmp(line, "Origin") == 0)
            request->origin = value;
        else if (strcmp(line, "Accept") == 0)
            request->accept = value;
        else if (strcmp(line, "Cookie") == 0)
            request->cookie = value;
        else if (strcmp(line, "Authorization") == 0)
            request->authorization = value;
        else if (strcmp(line, "Peer") == 0) /* of this machine, over loopback */
            request->loopback = true;
        else if (strcmp(line, "Token") == 0) /* the server's own, to reach the token checks */
            context.token = value;
    }
    if (**text) ++*text;
}

/* An @ of the body is the folder, whose name no input can know. */
static void add_body(mrd__buf *body, const char *text)
{
    for (; *text; text++) {
        if (*text == '@')
            mrd__buf_text(body, own_folder);
        else
            mrd__buf_char(body, *text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const methods[] = {"GET", "POST", "DELETE", "HEAD", "PUT"};
    if (!context.traces) open_once();
    if (size < 2) return 0;
    char *text = mrd__strndup((const char *)data + 1, size - 1), *at = text;
    char *target = next_line(&at);
    size_t path = strcspn(target, "?");
    mrd__request request = {.method = methods[data[0] % 5], .host = "localhost"};
    mrd__reply reply = {0};
    request.path = (mrd__str){target, path};
    request.query = mrd__str_of(target[path] ? target + path + 1 : "");
    read_headers(&request, &at);
    add_body(&request.body, at);
    /* The result's row stays: making one takes as long as a hundred inputs. */
    if (data[0] % 5 != 2 || !strstr(target, "comm-results/")) mrd__http_handle(&request, &reply);
    if (reply.status && !reply.type) abort();
    read_streams(&reply);
    put_back(&request, &reply);
    end_recording(&reply);
    mrd__reply_reset(&reply);
    mrd__buf_reset(&request.body);
    context.token = NULL;
    mrd__free(text);
    return 0;
}
