#include "session/sources/host.h"

#include "base/os.h"
#include "session/sources/readfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Items ---- */

static mrd__host_item *item_of(mrd__host *host, const char *prefix, mrd__str name)
{
    char source[sizeof host->items.data->source];
    int size = snprintf(source, sizeof source, "%s%s%.*s", prefix, name.size > 0 ? "." : "",
                        (int)(name.size < 48 ? name.size : 48), name.data);
    (void)size;
    for (size_t i = 0; i < host->items.count; i++) {
        if (strcmp(host->items.data[i].source, source) == 0) return &host->items.data[i];
    }
    if (host->items.count == MRD__HOST_DEVICES_MAX) {
        host->beyond++;
        return NULL;
    }
    mrd__host_item item = {.epoch = 1};
    memcpy(item.source, source, sizeof source);
    mrd__vec_push(&host->items, item);
    return &host->items.data[host->items.count - 1];
}

static mrd__members begin(mrd__host *host)
{
    mrd__buf_clear(&host->payload);
    mrd__buf_char(&host->payload, '{');
    return (mrd__members){.out = &host->payload};
}

/* Give the payload. An item that was away is another one: its counters began anew. */
static void give(mrd__host *host, mrd__host_item *item, const char *kind, uint64_t time_ns)
{
    mrd__buf_char(&host->payload, '}');
    if (item->absent) item->epoch++;
    item->absent = false;
    item->seen = true;
    mrd__reading reading = {
        .source = item->source,
        .kind = kind,
        .number = ++item->number,
        .time_ns = time_ns,
        .epoch = item->epoch,
        .target = 1,
        .verified = true,
        .payload = {host->payload.data, host->payload.size},
    };
    host->sink.take(host->sink.ctx, &reading);
}

/* Items of this kind that a whole listing did not name: they are away. */
static void vanish(mrd__host *host, const char *prefix)
{
    size_t size = strlen(prefix);
    for (size_t i = 0; i < host->items.count; i++) {
        mrd__host_item *item = &host->items.data[i];
        if (strncmp(item->source, prefix, size) == 0 && !item->seen) item->absent = true;
    }
}

/* A file that cannot be read. What is not there at all is told once as unsupported. */
static void give_failure(mrd__host *host, mrd__host_item *item, const char *kind,
                         const mrd__kernel_text *read)
{
    bool never =
        mrd__kernel_refused(read->failed) || (item->number == 0 && mrd__kernel_gone(read->failed));
    if (item->told) return;
    item->told = never;
    mrd__members members = begin(host);
    mrd__member_text(&members, never ? "unsupported" : "missing",
                     mrd__str_of(strerror(read->failed)));
    give(host, item, kind, read->time_ns);
}

/* A file whose reading took too long has no time worth telling: nothing is read from it. */
static bool in_time(const mrd__kernel_text *read)
{
    return read->failed == 0 && read->spread_ns <= MRD__READ_SPREAD_NS;
}

static mrd__kernel_text file_of(mrd__host *host, mrd__host_item *item, const char *kind,
                                const char *path)
{
    mrd__kernel_text read = mrd__kernel_file(AT_FDCWD, path, &host->file);
    if (read.failed != 0 && item != NULL) give_failure(host, item, kind, &read);
    return read;
}

/* ---- CPU, memory ---- */

static void read_cpu(mrd__host *host)
{
    static const char *const keys[] = {"userNs",   "niceNs", "systemNs",  "idleNs",
                                       "ioWaitNs", "irqNs",  "softIrqNs", "stealNs"};
    enum {
        KEYS = sizeof keys / sizeof keys[0]
    };
    mrd__host_item *item = item_of(host, "linux.host", MRD__STR(""));
    mrd__kernel_text read = file_of(host, item, "host.cpu", "/proc/stat");
    mrd__str line, words[KEYS + 1];
    if (!in_time(&read)) return;
    mrd__str text = read.text;
    if (!mrd__procfs_line(&text, &line)) return;
    if (mrd__procfs_words(line, words, KEYS + 1) < KEYS + 1 || !mrd__str_is(words[0], "cpu"))
        return;
    uint64_t tick_ns = UINT64_C(1000000000) / host->ticks_per_second, busy = 0;
    mrd__members members = begin(host);
    for (size_t i = 0; i < KEYS; i++) {
        uint64_t ticks;
        if (!mrd__parse_uint64(words[i + 1], &ticks)) return;
        /* Idle and iowait are no work; iowait may even fall. */
        if (i != 3 && i != 4) busy += ticks;
        mrd__member_uint(&members, keys[i], ticks * tick_ns);
    }
    mrd__member_uint(&members, "cpuNs", busy * tick_ns);
    mrd__member_uint(&members, "nCpu", host->cores);
    mrd__member_uint(&members, "tickNs", tick_ns);
    give(host, item, "host.cpu", read.time_ns);

    uint64_t switches;
    if (!mrd__procfs_value(text, "ctxt", &switches)) return;
    members = begin(host);
    mrd__member_uint(&members, "switches", switches);
    give(host, item, "host.ctxt", read.time_ns);
}

static void read_memory(mrd__host *host)
{
    static const mrd__pair pairs[] = {
        {"MemTotal", "totalBytes", 1024},
        {"MemFree", "freeBytes", 1024},
        {"MemAvailable", "availableBytes", 1024},
        {"Buffers", "bufferBytes", 1024},
        {"Cached", "cachedBytes", 1024},
        {"SwapTotal", "swapTotalBytes", 1024},
        {"SwapFree", "swapFreeBytes", 1024},
        {"Dirty", "dirtyBytes", 1024},
        {NULL, NULL, 1},
    };
    mrd__host_item *item = item_of(host, "linux.host", MRD__STR(""));
    mrd__kernel_text read = file_of(host, item, "host.mem", "/proc/meminfo");
    if (!in_time(&read)) return;
    mrd__members members = begin(host);
    mrd__procfs_pairs(read.text, pairs, &members);
    give(host, item, "host.mem", read.time_ns);
}

/* ---- Devices ---- */

/* Members from words by their place; false: one that is no number. */
typedef struct column {
    size_t word;
    const char *key;
    uint64_t factor;
} column;

static bool add_columns(mrd__members *members, const mrd__str *words, const column *columns)
{
    for (; columns->key != NULL; columns++) {
        uint64_t value;
        if (!mrd__parse_uint64(words[columns->word], &value)) return false;
        mrd__member_uint(members, columns->key, value * columns->factor);
    }
    return true;
}

static bool is_real_disk(mrd__str name)
{
    /* Loop and RAM disks count what other disks count, or nothing. */
    return !(name.size >= 4 && memcmp(name.data, "loop", 4) == 0) &&
           !(name.size >= 3 && memcmp(name.data, "ram", 3) == 0);
}

/* Whole disks: a partition has no folder of its own in /sys/block. */
static bool is_whole_disk(mrd__str name)
{
    char path[96];
    if (name.size > 64) return false;
    snprintf(path, sizeof path, "/sys/block/%.*s", (int)name.size, name.data);
    return access(path, F_OK) == 0;
}

static void read_disks(mrd__host *host)
{
    static const column columns[] = {
        {3, "readOps", 1},      {5, "readBytes", 512}, {6, "readMs", 1},  {7, "writeOps", 1},
        {9, "writeBytes", 512}, {10, "writeMs", 1},    {12, "busyMs", 1}, {0, NULL, 0},
    };
    mrd__kernel_text read = file_of(host, NULL, NULL, "/proc/diskstats");
    mrd__str text = read.text, line, words[13];
    if (!in_time(&read)) return;
    while (mrd__procfs_line(&text, &line)) {
        if (mrd__procfs_words(line, words, 13) < 13) continue;
        if (!is_real_disk(words[2]) || !is_whole_disk(words[2])) continue;
        mrd__host_item *item = item_of(host, "linux.disk", words[2]);
        mrd__members members = begin(host);
        if (item == NULL || !add_columns(&members, words, columns)) continue;
        give(host, item, "disk.io", read.time_ns);
    }
    vanish(host, "linux.disk.");
}

static void read_network(mrd__host *host)
{
    static const column columns[] = {
        {0, "rxBytes", 1},   {1, "rxPackets", 1}, {2, "rxErrors", 1},
        {3, "rxDrops", 1},   {8, "txBytes", 1},   {9, "txPackets", 1},
        {10, "txErrors", 1}, {11, "txDrops", 1},  {0, NULL, 0},
    };
    mrd__kernel_text read = file_of(host, NULL, NULL, "/proc/net/dev");
    mrd__str text = read.text, line, words[16];
    if (!in_time(&read)) return;
    while (mrd__procfs_line(&text, &line)) {
        const char *colon = memchr(line.data, ':', line.size);
        if (colon == NULL) continue; /* the two lines of titles */
        size_t at = (size_t)(colon - line.data);
        mrd__str name;
        if (mrd__procfs_words((mrd__str){line.data, at}, &name, 1) < 1) continue;
        mrd__str rest = {colon + 1, line.size - at - 1};
        if (mrd__procfs_words(rest, words, 16) < 16) continue;
        mrd__host_item *item = item_of(host, "linux.net", name);
        mrd__members members = begin(host);
        if (item == NULL || !add_columns(&members, words, columns)) continue;
        give(host, item, "net.iface", read.time_ns);
    }
    vanish(host, "linux.net.");
}

/* ---- Pressure, cgroup, thermal ---- */

static void read_pressure(mrd__host *host, const char *path, const char *prefix, mrd__str name)
{
    mrd__host_item *item = item_of(host, prefix, name);
    if (item == NULL || item->told) return;
    mrd__kernel_text read = file_of(host, item, "psi", path);
    uint64_t some, full;
    if (!in_time(&read) || !mrd__procfs_pressure(read.text, "some", &some)) return;
    mrd__members members = begin(host);
    mrd__member_uint(&members, "someUs", some);
    if (mrd__procfs_pressure(read.text, "full", &full)) mrd__member_uint(&members, "fullUs", full);
    give(host, item, "psi", read.time_ns);
}

/* Where cgroup v2 is mounted, and below it our own group: /proc/self/cgroup has its line `0::`. */
static void find_cgroup(mrd__host *host)
{
    static const char *const roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    mrd__kernel_text read = mrd__kernel_file(AT_FDCWD, "/proc/self/cgroup", &host->file);
    mrd__str text = read.text, line, own = {0};
    while (mrd__procfs_line(&text, &line)) {
        if (line.size > 3 && memcmp(line.data, "0::", 3) == 0)
            own = (mrd__str){line.data + 3, line.size - 3};
    }
    for (size_t i = 0; own.size > 0 && i < sizeof roots / sizeof roots[0]; i++) {
        char path[sizeof host->cgroup + 32];
        int size = snprintf(host->cgroup, sizeof host->cgroup, "%s%.*s", roots[i],
                            own.size == 1 ? 0 : (int)own.size, own.data);
        snprintf(path, sizeof path, "%s/cgroup.controllers", host->cgroup);
        if (size < (int)sizeof host->cgroup && access(path, R_OK) == 0) return;
    }
    host->cgroup[0] = '\0';
}

/* A file of our cgroup, in path. */
static const char *cgroup_path(const mrd__host *host, const char *name, char path[600])
{
    snprintf(path, 600, "%s/%s", host->cgroup, name);
    return path;
}

static void read_cgroup(mrd__host *host)
{
    static const mrd__pair cpu[] = {
        {"usage_usec", "usageUs", 1},         {"user_usec", "userUs", 1},
        {"system_usec", "systemUs", 1},       {"nr_throttled", "throttled", 1},
        {"throttled_usec", "throttledUs", 1}, {NULL, NULL, 1}};
    char path[600];
    mrd__host_item *item = item_of(host, "linux.cgroup", MRD__STR(""));
    struct stat folder;
    if (item == NULL || stat(host->cgroup, &folder) != 0) return;
    if (item->inode != 0 && item->inode != folder.st_ino) item->absent = true; /* made anew */
    item->inode = folder.st_ino;
    mrd__kernel_text read = file_of(host, item, "cgroup.cpu", cgroup_path(host, "cpu.stat", path));
    if (in_time(&read)) {
        mrd__members members = begin(host);
        mrd__procfs_pairs(read.text, cpu, &members);
        give(host, item, "cgroup.cpu", read.time_ns);
    }
    item = item_of(host, "linux.cgroup", MRD__STR("memory"));
    if (item == NULL || item->told) return;
    read = file_of(host, item, "cgroup.mem", cgroup_path(host, "memory.current", path));
    mrd__str line, text = read.text;
    uint64_t bytes;
    if (!in_time(&read) || !mrd__procfs_line(&text, &line) || !mrd__parse_uint64(line, &bytes))
        return;
    mrd__members members = begin(host);
    mrd__member_uint(&members, "currentBytes", bytes);
    give(host, item, "cgroup.mem", read.time_ns);
}

static void read_thermal(mrd__host *host)
{
    char path[64], name[16];
    for (int zone = 0; zone < 64; zone++) {
        snprintf(path, sizeof path, "/sys/class/thermal/thermal_zone%d/temp", zone);
        snprintf(name, sizeof name, "%d", zone);
        if (zone > 0 && access(path, F_OK) != 0) return;
        mrd__host_item *item = item_of(host, "linux.thermal", mrd__str_of(name));
        if (item == NULL || item->told) return;
        mrd__kernel_text read = file_of(host, item, "thermal", path);
        mrd__str line, text = read.text;
        int64_t value;
        if (!in_time(&read)) continue;
        if (!mrd__procfs_line(&text, &line) || !mrd__parse_int64(line, &value)) continue;
        mrd__members members = begin(host);
        mrd__member_int(&members, "milliC", value); /* 0 and below are temperatures, too */
        give(host, item, "thermal", read.time_ns);
    }
}

/* ---- The source ---- */

void mrd__host_open(mrd__host *host)
{
    *host = (mrd__host){.ticks_per_second = (uint64_t)sysconf(_SC_CLK_TCK), .cores = mrd__cores()};
    find_cgroup(host);
}

void mrd__host_close(mrd__host *host)
{
    mrd__vec_reset(&host->items);
    mrd__buf_reset(&host->file);
    mrd__buf_reset(&host->payload);
}

void mrd__host_read(mrd__host *host, const mrd__reading_sink *sink)
{
    host->sink = *sink;
    for (size_t i = 0; i < host->items.count; i++)
        host->items.data[i].seen = false;
    read_cpu(host);
    read_memory(host);
    read_disks(host);
    read_network(host);
    read_pressure(host, "/proc/pressure/cpu", "linux.psi", MRD__STR("cpu"));
    read_pressure(host, "/proc/pressure/memory", "linux.psi", MRD__STR("memory"));
    read_pressure(host, "/proc/pressure/io", "linux.psi", MRD__STR("io"));
    if (host->cgroup[0] != '\0') read_cgroup(host);
    read_thermal(host);
}
