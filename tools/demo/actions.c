/* What the demo does at a frame. Each is the real thing: a process, a thread, a socket. */
#include "demo/demo.h"

#include "base/alloc.h"
#include "base/os.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Frames ---- */

static void stall(demo *d, uint64_t ms)
{
    (void)d;
    demo_sleep_ms(ms);
}

static void background(demo *d, uint64_t value)
{
    (void)value;
    demo_line(d, "demo.state", "app.state", false, "{\"foreground\":false}");
}

static void foreground(demo *d, uint64_t value)
{
    (void)value;
    demo_line(d, "demo.state", "app.state", false, "{\"foreground\":true}");
}

static void next_epoch(demo *d, uint64_t value)
{
    (void)value;
    d->epoch++;
}

static void set_display(demo *d, uint64_t value)
{
    d->display = value;
}

/* ---- Processes and threads ---- */

static void reap(pid_t pid)
{
    int status;
    if (pid > 0) waitpid(pid, &status, 0);
}

/* A child that uses a core for so many ms, and is waited for by whoever comes next. */
static void fork_busy(demo *d, uint64_t ms)
{
    (void)d;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    if (fork() == 0) {
        demo_burn_until(mrd__monotonic_ns() + ms * 1000000);
        _exit(0);
    }
}

static void fork_exec(demo *d, uint64_t value)
{
    (void)d;
    (void)value;
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(127);
    }
    reap(pid);
}

static void *busy_thread(void *ctx)
{
    demo_burn_until(mrd__monotonic_ns() + *(uint64_t *)ctx * 1000000);
    mrd__free(ctx);
    return NULL;
}

static void thread(demo *d, uint64_t ms)
{
    (void)d;
    pthread_t id;
    uint64_t *span = mrd__new(uint64_t);
    *span = ms;
    if (pthread_create(&id, NULL, busy_thread, span) == 0)
        pthread_detach(id);
    else
        mrd__free(span);
}

/* Fork so that the child gets this pid again; needs the right to write ns_last_pid. */
static pid_t fork_as(pid_t pid, uint64_t ms)
{
    char text[32];
    int size = snprintf(text, sizeof text, "%d", (int)pid - 1);
    int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && write(fd, text, (size_t)size) < 0) perror("meridian-demo: ns_last_pid");
    if (fd >= 0) close(fd);
    pid_t child = fork();
    if (child == 0) {
        demo_burn_until(mrd__monotonic_ns() + ms * 1000000);
        _exit(0);
    }
    return child;
}

/* Two children after each other with one pid, each busy for so many ms. */
static void reuse_pid(demo *d, uint64_t ms)
{
    pid_t first = fork();
    if (first == 0) {
        demo_burn_until(mrd__monotonic_ns() + ms * 1000000);
        _exit(0);
    }
    reap(first);
    pid_t second = fork_as(first, ms);
    reap(second);
    char payload[96];
    snprintf(payload, sizeof payload, "{\"first\":%d,\"second\":%d,\"same\":%s}", (int)first,
             (int)second, first == second ? "true" : "false");
    demo_line(d, "demo.note", "note", false, payload);
}

/* A process that holds our output and prints after we are gone. */
static void leave_behind(demo *d, uint64_t ms)
{
    pid_t parent = getpid();
    if (fork() != 0) return;
    setpgid(0, 0);
    while (getppid() == parent)
        demo_sleep_ms(5);
    for (uint64_t i = 0; i < ms / 20; i++) {
        demo_line(d, "demo.late", "frame", true, "{\"displayId\":9}");
        demo_sleep_ms(20);
    }
    _exit(0);
}

/* ---- Memory and network ---- */

static void take_memory(demo *d, uint64_t bytes)
{
    (void)d;
    char *block = mrd__alloc(bytes);
    memset(block, 1, bytes); /* kept: that it stays is the point */
}

static int listen_on_loopback(struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof *address;
    *address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || bind(fd, (struct sockaddr *)address, size) != 0 || listen(fd, 1) != 0 ||
        getsockname(fd, (struct sockaddr *)address, &size) != 0)
        perror("meridian-demo: loopback");
    return fd;
}

/* So many bytes over the loopback, through a connection of its own. */
static void traffic(demo *d, uint64_t bytes)
{
    (void)d;
    struct sockaddr_in address;
    int server = listen_on_loopback(&address);
    int from = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(from, (struct sockaddr *)&address, sizeof address) == 0) {
        int to = accept(server, NULL, NULL);
        static char piece[16 << 10];
        for (uint64_t left = bytes; left > 0;) {
            size_t size = left < sizeof piece ? (size_t)left : sizeof piece;
            if (send(from, piece, size, MSG_NOSIGNAL) != (ssize_t)size) break;
            for (size_t got = 0; got < size;) {
                ssize_t part = recv(to, piece, size - got, 0);
                if (part <= 0) break;
                got += (size_t)part;
            }
            left -= size;
        }
        close(to);
    }
    close(from);
    close(server);
}

/* ---- A bad adapter ---- */

static void garbage(demo *d, uint64_t value)
{
    (void)value;
    static const char text[] = "Monitoring pid=12\n{\"kind\":\n[1,2]\n}{\n";
    demo_write(d, text, sizeof text - 1);
}

static void nul(demo *d, uint64_t value)
{
    (void)value;
    static const char text[] = "{\"kind\":\"fra\0me\"}\n";
    demo_write(d, text, sizeof text - 1);
}

static void bad_utf8(demo *d, uint64_t value)
{
    (void)value;
    static const char text[] =
        "{\"sourceId\":\"demo.\xff\xc3(\",\"kind\":\"note\",\"payload\":{}}\n";
    demo_write(d, text, sizeof text - 1);
}

/* A line of so many bytes. */
static void long_line(demo *d, uint64_t bytes)
{
    char *line = mrd__alloc(bytes + 1);
    memset(line, 'x', bytes);
    line[bytes] = '\n';
    demo_write(d, line, bytes + 1);
    mrd__free(line);
}

static void complain(demo *d, uint64_t bytes)
{
    (void)d;
    for (uint64_t i = 0; i < bytes; i += 8) {
        if (write(STDERR_FILENO, "trouble\n", 8) < 0) return;
    }
}

static void hang(demo *d, uint64_t value)
{
    (void)d;
    (void)value;
    signal(SIGTERM, SIG_IGN);
    for (;;)
        pause();
}

static void crash(demo *d, uint64_t value)
{
    static const char cut[] = "{\"sourceId\":\"demo.fra"; /* in the middle of a line */
    if (value == 0) demo_write(d, cut, sizeof cut - 1);
    kill(getpid(), SIGKILL);
}

static void leave(demo *d, uint64_t code)
{
    (void)d;
    _exit((int)code);
}

static const struct {
    const char *name;
    demo_run run;
} actions[] = {
    {"stall", stall},           {"background", background},
    {"foreground", foreground}, {"epoch", next_epoch},
    {"display", set_display},   {"fork", fork_busy},
    {"exec", fork_exec},        {"thread", thread},
    {"reuse-pid", reuse_pid},   {"late", leave_behind},
    {"memory", take_memory},    {"traffic", traffic},
    {"garbage", garbage},       {"nul", nul},
    {"utf8", bad_utf8},         {"long", long_line},
    {"stderr", complain},       {"hang", hang},
    {"crash", crash},           {"exit", leave},
};

demo_run demo_action_named(mrd__str name)
{
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (mrd__str_is(name, actions[i].name)) return actions[i].run;
    }
    return NULL;
}

const char *demo_action_names(void)
{
    static mrd__buf names;
    for (size_t i = 0; i < sizeof actions / sizeof actions[0] && names.size < 1024; i++)
        mrd__buf_printf(&names, "%s%s", i > 0 ? " " : "", actions[i].name);
    return names.data;
}
