/* meridian-demo: a target and an adapter for recordings, in which every kind of break is real.
 *
 * A frame loop at a steady rate that prints each frame as an adapter line, on the clock
 * CLOCK_MONOTONIC. On request, at a given frame, it stalls, forks, executes, ends a thread, sends
 * bytes over the loopback, takes memory, reuses a pid, goes to the background, or misbehaves as an
 * adapter: prints garbage, hangs, crashes, leaves a process behind that prints late. */
#include "demo/demo.h"

#include "base/os.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t asked_to_stop;

static void on_signal(int number)
{
    (void)number;
    asked_to_stop = 1;
}

/* ---- Output ---- */

void demo_write(const demo *d, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t put = write(STDOUT_FILENO, at, d->one_byte ? 1 : size);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) _exit(3); /* the reader went away: nobody to tell */
        at += put;
        size -= (size_t)put;
    }
}

void demo_line(demo *d, const char *source, const char *kind, bool timed, const char *payload)
{
    if (d->quiet) return;
    mrd__buf line = {0};
    mrd__buf_printf(&line, "{\"sourceId\":\"%s\",\"adapterSequence\":%llu,", source,
                    (unsigned long long)++d->sequence);
    if (timed)
        mrd__buf_printf(&line, "\"sourceTimestamp\":%llu,\"clockDomain\":\"linux-monotonic-ns\",",
                        (unsigned long long)mrd__monotonic_ns());
    else
        mrd__buf_text(&line, "\"sourceTimestamp\":null,\"clockDomain\":\"none\",");
    mrd__buf_printf(&line, "\"sourceEpoch\":%llu,\"pid\":%d,\"kind\":\"%s\",\"payload\":%s}\n",
                    (unsigned long long)d->epoch, (int)getpid(), kind, payload);
    demo_write(d, line.data, line.size);
    mrd__buf_reset(&line);
}

static void print_frame(demo *d)
{
    char payload[64];
    snprintf(payload, sizeof payload, "{\"displayId\":%llu}", (unsigned long long)d->display);
    demo_line(d, "demo.frames", "frame", true, payload);
}

static void print_end(demo *d)
{
    if (d->quiet || d->silent_end) return;
    static const char stopped[] = "{\"kind\":\"stopped\"}\n";
    demo_write(d, stopped, sizeof stopped - 1 - (d->no_newline ? 1 : 0));
}

/* ---- The loop ---- */

void demo_sleep_ms(uint64_t ms)
{
    struct timespec span = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    while (nanosleep(&span, &span) != 0 && errno == EINTR && !asked_to_stop)
        continue;
}

void demo_burn_until(uint64_t end_ns)
{
    volatile uint64_t sum = 0;
    while (mrd__monotonic_ns() < end_ns) {
        for (int i = 0; i < 1000; i++)
            sum = sum + (uint64_t)i;
    }
}

static void act(demo *d, uint64_t frame)
{
    for (size_t i = 0; i < d->count; i++) {
        const demo_action *action = &d->actions[i];
        bool due = action->frame == frame || (action->every > 0 && frame % action->every == 0);
        if (due) action->run(d, action->value);
    }
}

static void loop(demo *d)
{
    uint64_t period = 1000000000 / d->fps, next = mrd__monotonic_ns();
    for (uint64_t frame = 1; !asked_to_stop; frame++) {
        if (d->frames > 0 && frame > d->frames) break;
        uint64_t start = mrd__monotonic_ns();
        if (d->burn > 0) demo_burn_until(start + period * d->burn / 100);
        act(d, frame);
        print_frame(d);
        next += period;
        uint64_t now = mrd__monotonic_ns();
        if (next < now) next = now; /* a stall is not made up for by a burst */
        struct timespec until = {(time_t)(next / 1000000000), (long)(next % 1000000000)};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR &&
               !asked_to_stop)
            continue;
    }
}

/* ---- Arguments ---- */

static const char usage[] =
    "usage: meridian-demo [--frames N] [--fps N] [--burn PERCENT] [--quiet] [--one-byte]\n"
    "  [--no-newline] [--no-stop] [--at FRAME ACTION[=VALUE]]... [--every FRAMES ACTION[=VALUE]]\n"
    "actions: ";

static _Noreturn void wrong(const char *what)
{
    fprintf(stderr, "meridian-demo: %s\n%s%s\n", what, usage, demo_action_names());
    exit(2);
}

static uint64_t number(const char *text)
{
    uint64_t value;
    if (text == NULL || !mrd__parse_uint64(mrd__str_of(text), &value))
        wrong(text != NULL ? text : "a number is missing");
    return value;
}

static void add_action(demo *d, const char *frame, const char *text, bool every)
{
    if (text == NULL || d->count == DEMO_ACTIONS) wrong("--at FRAME ACTION");
    const char *equals = strchr(text, '=');
    mrd__str name = {text, equals != NULL ? (size_t)(equals - text) : strlen(text)};
    demo_action action = {.run = demo_action_named(name)};
    if (action.run == NULL) wrong(text);
    if (equals != NULL) action.value = number(equals + 1);
    if (every)
        action.every = number(frame);
    else
        action.frame = number(frame);
    d->actions[d->count++] = action;
}

static int take_argument(demo *d, char **at)
{
    if (strcmp(at[0], "--quiet") == 0) return d->quiet = true, 1;
    if (strcmp(at[0], "--one-byte") == 0) return d->one_byte = true, 1;
    if (strcmp(at[0], "--no-newline") == 0) return d->no_newline = true, 1;
    if (strcmp(at[0], "--no-stop") == 0) return d->silent_end = true, 1;
    if (strcmp(at[0], "--frames") == 0) return d->frames = number(at[1]), 2;
    if (strcmp(at[0], "--fps") == 0) return d->fps = number(at[1]), 2;
    if (strcmp(at[0], "--burn") == 0) return d->burn = number(at[1]), 2;
    bool every = strcmp(at[0], "--every") == 0;
    if (!every && strcmp(at[0], "--at") != 0) wrong(at[0]);
    if (at[1] == NULL) wrong(at[0]);
    add_action(d, at[1], at[2], every);
    return 3;
}

int main(int argc, char **argv)
{
    demo d = {.fps = 60, .epoch = 1, .display = 1};
    for (int i = 1; i < argc;)
        i += take_argument(&d, argv + i);
    if (d.fps == 0 || d.fps > 1000 || d.burn > 100) wrong("--fps 1 to 1000, --burn 0 to 100");
    struct sigaction stop = {.sa_handler = on_signal};
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    loop(&d);
    print_end(&d);
    return 0;
}
