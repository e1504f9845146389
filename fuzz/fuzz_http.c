/* The HTTP door: the first line of the input is method and target, the next ones are headers, then
 * the body. The trace behind it is real, so that windows and details are reached. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os.h"
#include "server/context.h"
#include "server/http.h"

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

static void open_once(void)
{
    char path[] = "/tmp/mrd-fuzz-http-XXXXXX";
    const char *paths[] = {path};
    int64_t id;
    mrd__trace_slot *slot = NULL;
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, trace_text, sizeof trace_text - 1) < 0) abort();
    close(fd);
    snprintf(context.address, sizeof context.address, "127.0.0.1");
    context.traces = mrd__traces_create(1);
    if (mrd__traces_open(context.traces, paths, 1, true, &id, NULL) != MRD_OK) abort();
    while (mrd__traces_acquire(context.traces, id, &slot, NULL) != MRD_OK)
        usleep(1000);
    mrd__traces_release(context.traces, slot);
    unlink(path);
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
        else if (strcmp(line, "Token") == 0) /* the server's own, to reach the token checks */
            context.token = value;
    }
    if (**text) ++*text;
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
    mrd__buf_text(&request.body, at);
    /* A DELETE would take away the trace that the other inputs ask. */
    if (data[0] % 5 != 2 || !strstr(target, "/api/traces")) mrd__http_handle(&request, &reply);
    if (reply.status && !reply.type) abort();
    mrd__reply_reset(&reply);
    mrd__buf_reset(&request.body);
    context.token = NULL;
    mrd__free(text);
    return 0;
}
