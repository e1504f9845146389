#include "cli/cli.h"

#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- Ending ---- */

static int stop_pipe[2] = {-1, -1};

static void on_signal(int number)
{
    (void)number;
    int kept = errno;
    if (write(stop_pipe[1], "", 1) < 0) errno = kept; /* full: it was told before */
    errno = kept;
}

static bool catch_signals(void)
{
    if (pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return false;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    /* A file that may not grow is a failed write, and told as one. */
    if (sigaction(SIGXFSZ, &ignore, NULL) != 0) return false;
    return sigaction(SIGINT, &action, NULL) == 0 && sigaction(SIGTERM, &action, NULL) == 0;
}

/* ---- Options ---- */

/* "100ms", "2s", "500us", "10m"; a number alone is seconds. */
static bool span_of(const mrd__cli *cli, const char *name, uint64_t low_ns, uint64_t *out)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1},   {"us", 1e3},   {"ms", 1e6}, {"s", 1e9},
                 {"m", 6e10}, {"h", 3.6e12}, {"", 1e9}};
    const char *text = mrd__cli_value(cli, name);
    if (text == NULL) return true;
    size_t digits = strspn(text, "0123456789.");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        double number;
        if (strcmp(text + digits, units[i].unit) != 0) continue;
        if (!mrd__parse_double((mrd__str){text, digits}, &number)) break;
        double ns = number * units[i].ns;
        if (ns < (double)low_ns || ns > 1e18) break;
        *out = (uint64_t)ns;
        return true;
    }
    mrd__cli_usage(cli, "--%s: \"%s\", allowed is a time from %llu ms on, as 100ms, 2s, 10m", name,
                   text, (unsigned long long)(low_ns / 1000000));
    return false;
}

/* The session's folder: --out, or DATA/sessions/<uuid>. */
static mrd_status folder_of(const mrd__cli *cli, mrd__buf *out, mrd_error *error)
{
    const char *given = mrd__cli_value(cli, "out");
    if (given != NULL) {
        mrd__buf_text(out, given);
        while (out->size > 1 && out->data[out->size - 1] == '/')
            out->data[--out->size] = '\0';
        return MRD_OK;
    }
    char name[37];
    mrd__cli_data_dir(cli, out);
    mrd__buf_text(out, "/sessions");
    MRD__TRY(mrd__make_folders(out->data, error));
    mrd__uuid_random(name);
    mrd__buf_printf(out, "/%s", name);
    return MRD_OK;
}

static int finish(const mrd__cli *cli, const char *dir, const mrd_record_result *result)
{
    mrd__buf out = {0};
    if (mrd__cli_has(cli, "json")) {
        mrd__buf_text(&out, "{\"dir\":");
        mrd__buf_json_string(&out, mrd__str_of(dir));
        mrd__buf_printf(&out, ",\"completed\":%s,\"events\":%llu,\"samples\":%llu",
                        result->completed ? "true" : "false", (unsigned long long)result->events,
                        (unsigned long long)result->samples);
        mrd__buf_printf(&out, ",\"decodeErrors\":%llu,\"gaps\":%llu,\"lateLines\":%llu",
                        (unsigned long long)result->decode_errors, (unsigned long long)result->gaps,
                        (unsigned long long)result->late_lines);
        mrd__buf_printf(&out, ",\"beyondLimit\":%llu}\n", (unsigned long long)result->beyond_limit);
    } else {
        mrd__buf_printf(&out, "%s\n", dir);
    }
    if (!result->completed) mrd__cli_say("%s is sealed as incomplete", dir);
    if (result->decode_errors > 0 || result->gaps > 0 || result->late_lines > 0)
        mrd__cli_say("%s: %llu of %llu events not decoded, %llu gaps, %llu lines came too late; "
                     "meridian report %s tells more",
                     dir, (unsigned long long)result->decode_errors,
                     (unsigned long long)result->events, (unsigned long long)result->gaps,
                     (unsigned long long)result->late_lines, dir);
    if (result->beyond_limit > 0)
        mrd__cli_say("%s: %llu readings are above the limits of a session (docs/sessions.md): "
                     "stored, but no metric has them",
                     dir, (unsigned long long)result->beyond_limit);
    int code = mrd__cli_print(&out);
    bool lost = !result->completed || result->decode_errors > 0 || result->gaps > 0 ||
                result->beyond_limit > 0;
    return code == MRD__EXIT_DONE && lost && mrd__cli_has(cli, "strict") ? MRD__EXIT_LOSSES : code;
}

static int fail(const char *dir, const mrd_error *error)
{
    mrd__buf open_dir = {0};
    int code = mrd__cli_fail(error);
    mrd__buf_printf(&open_dir, "%s.open", dir);
    if (strcmp(error->code, "exists") != 0 && access(open_dir.data, F_OK) == 0)
        mrd__cli_say("%s holds what was recorded: meridian session recover %s", open_dir.data, dir);
    mrd__buf_reset(&open_dir);
    return code;
}

/* ---- record ---- */

/* What the progress line last showed. */
typedef struct shown {
    uint64_t elapsed_ns, events;
} shown;

enum {
    LINE_COLUMNS = 100, /* of the progress line where the terminal does not say how wide it is */
};

static size_t columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                           : LINE_COLUMNS;
}

/* Sources by name with their state, those in trouble first, as many as the line holds. */
static void add_health(mrd__buf *line, const mrd_record_progress *p, size_t width)
{
    static const char *const words[] = {"live", "stale", "ended"};
    size_t named = 0;
    for (int state = 2; state >= 0; state--) {
        for (size_t i = 0; i < p->source_count; i++) {
            const mrd_record_source *source = &p->sources[i];
            if ((int)source->state != state || strcmp(source->id, "publisher") == 0) continue;
            size_t size = strlen(source->id) + strlen(words[state]) + 3;
            if (line->size + size + sizeof "  +1000 more" > width) continue;
            mrd__buf_printf(line, "  %s %s", source->id, words[state]);
            named++;
        }
    }
    size_t all = 0;
    for (size_t i = 0; i < p->source_count; i++)
        all += strcmp(p->sources[i].id, "publisher") != 0;
    if (named < all) mrd__buf_printf(line, "  +%zu more", all - named);
}

static void show_progress(void *ctx, const mrd_record_progress *p)
{
    shown *last = ctx;
    mrd__buf line = {0};
    double span = (double)(p->elapsed_ns - last->elapsed_ns) / 1e9;
    double rate = span > 0 ? (double)(p->events - last->events) / span : 0;
    mrd__buf_printf(&line, "%.0f s  %.0f events/s  gaps %llu", (double)p->elapsed_ns / 1e9, rate,
                    (unsigned long long)p->gaps);
    if (p->decode_errors > 0)
        mrd__buf_printf(&line, "  decode errors %llu", (unsigned long long)p->decode_errors);
    if (p->refused > 0) mrd__buf_printf(&line, "  refused %llu", (unsigned long long)p->refused);
    add_health(&line, p, columns() - 1);
    fprintf(stderr, "\r\033[K%s", line.data);
    fflush(stderr);
    mrd__buf_reset(&line);
    *last = (shown){p->elapsed_ns, p->events};
}

static bool fill_options(const mrd__cli *cli, mrd_record_options *options)
{
    uint64_t pid = 0;
    if (!mrd__cli_uint(cli, "pid", 1, INT32_MAX, &pid) ||
        !mrd__cli_uint(cli, "restarts", 0, 60, &options->restarts) ||
        !span_of(cli, "every", 1000000, &options->every_ns) ||
        !span_of(cli, "publish", 1000000, &options->publish_ns) ||
        !span_of(cli, "duration", 1000000, &options->duration_ns))
        return false;
    options->pid = (int64_t)pid;
    options->host = mrd__cli_has(cli, "host");
    if (options->pid > 0 && options->command != NULL) {
        mrd__cli_usage(cli, "record takes --pid or a program after --, one of both");
        return false;
    }
    bool any =
        options->pid > 0 || options->command != NULL || options->host || options->adapter_count > 0;
    if (!any) mrd__cli_usage(cli, "record needs --pid, --host, --adapter or a program after --");
    return any;
}

static int run(const mrd__cli *cli, mrd_record_options *options)
{
    mrd__buf dir = {0};
    mrd_error error = {0};
    mrd_record_result result;
    if (isatty(STDERR_FILENO)) options->progress = show_progress;
    mrd_status status = folder_of(cli, &dir, &error);
    options->dir = dir.data;
    if (status == MRD_OK && !catch_signals())
        status = mrd__fail_errno(&error, "pipe", "cannot catch signals");
    options->stop_fd = stop_pipe[0];
    if (status == MRD_OK) status = mrd_session_record(options, &result, &error);
    if (options->progress != NULL) fprintf(stderr, "\r\033[K");
    int code = status == MRD_OK ? finish(cli, dir.data, &result) : fail(dir.data, &error);
    mrd__buf_reset(&dir);
    return code;
}

int mrd__cmd_record(const mrd__cli *cli)
{
    MRD__VEC(const char *) adapters = {0};
    MRD__VEC(char *) command = {0};
    shown last = {0};
    for (size_t i = 0; i < cli->given.count; i++) {
        if (strcmp(cli->given.data[i].option->name, "adapter") == 0)
            mrd__vec_push(&adapters, cli->given.data[i].value);
    }
    for (size_t i = 0; i < cli->operands.count; i++)
        mrd__vec_push(&command, mrd__strndup(cli->operands.data[i], strlen(cli->operands.data[i])));
    if (command.count > 0) mrd__vec_push(&command, NULL);
    mrd_record_options options = {
        .adapters = adapters.data,
        .adapter_count = adapters.count,
        .command = command.data,
        .every_ns = 100000000,
        .publish_ns = 1000000000,
        .stop_fd = -1,
        .progress_ctx = &last,
    };
    int code = fill_options(cli, &options) ? run(cli, &options) : MRD__EXIT_USAGE;
    for (size_t i = 0; i < command.count; i++)
        mrd__free(command.data[i]);
    mrd__vec_reset(&command);
    mrd__vec_reset(&adapters);
    return code;
}

int mrd__cmd_session_ingest(const mrd__cli *cli)
{
    mrd__buf dir = {0};
    mrd_error error = {0};
    mrd_record_result result;
    mrd_status status = folder_of(cli, &dir, &error);
    if (status == MRD_OK)
        status = mrd_session_ingest(cli->operands.data[0], dir.data, &result, &error);
    int code = status == MRD_OK ? finish(cli, dir.data, &result) : fail(dir.data, &error);
    mrd__buf_reset(&dir);
    return code;
}
