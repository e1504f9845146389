/* The table. A row for a gauge or a rate is one line (GAUGE, RATE). What a row says is its meaning:
 * a change of it needs a new definitionVersion, and a new line in
 * tests/unit/session/definitions.txt. */
#include "session/registry.h"

#include "base/error.h"
#include "base/sha256.h"

#include <string.h>

#define SECOND INT64_C(1000000000)
#define FRESH (2 * SECOND)

/* Which quality wins. Breaks before warmup: a first reading has no anchor to break with. */
#define ORDER_GAUGE "not-applicable, discontinuity, warmup, unsupported, missing"
#define ORDER_RATE                                                                                 \
    "not-applicable, discontinuity (key), warmup, unsupported, missing, counter-reset, "           \
    "discontinuity (dt)"
#define ORDER_FRAME "not-applicable, not-foreground, discontinuity, warmup, unsupported"

#define WEIGHTED "mean weighted by time; percentiles of the readings"
#define TOTALS "mean is total delta / total valid time; percentiles of the readings"

#define AS_READ "value as read"

#define ROW_(id_, kind_, key_, unit_, scope_, source_, zero_)                                      \
    .id = (id_), .kind = (kind_), .source_key = (key_), .unit = (unit_), .scope = (scope_),        \
    .source = (source_), .zero_rule = (zero_), .definition_version = "v1"
#define GAUGE_                                                                                     \
    .type = MRD__METRIC_GAUGE, .numer = 1, .denom = 1, .freshness_ns = FRESH,                      \
    .aggregate = WEIGHTED, .order = ORDER_GAUGE
#define RATE_(numer_)                                                                              \
    .type = MRD__METRIC_RATE, .numer = (numer_), .denom = 1, .freshness_ns = FRESH,                \
    .aggregate = TOTALS, .order = ORDER_RATE, .breaks = MRD__BREAK_COUNTER | MRD__BREAK_TIME

/* id, kind, key, unit, scope, source, what 0 means */
#define GAUGE(id, kind, key, unit, scope, source, zero)                                            \
    {                                                                                              \
        ROW_(id, kind, key, unit, scope, source, zero), GAUGE_, .formula = AS_READ                 \
    }
/* A counter of single things (bytes, faults): per second. */
#define RATE(id, kind, key, unit, scope, source, zero)                                             \
    {                                                                                              \
        ROW_(id, kind, key, unit, scope, source, zero), RATE_(1000000000), .formula = "delta / dt" \
    }
/* A counter of ns spent: percent of the time. */
#define SHARE(id, kind, key, unit, scope, source, zero)                                            \
    {                                                                                              \
        ROW_(id, kind, key, unit, scope, source, zero), RATE_(100), .formula = "100 * delta / dt"  \
    }
/* The same of a counter of us. */
#define SHARE_US(id, kind, key, unit, scope, source, zero)                                         \
    {                                                                                              \
        ROW_(id, kind, key, unit, scope, source, zero), RATE_(100000),                             \
            .formula = "100 * delta / dt"                                                          \
    }

#define CORE "percent-of-core"
#define CORES "percent-of-all-cores"
#define LINUX "Linux, /proc and /sys"
#define IDLE "nothing ran"
#define NO_TRAFFIC "nothing was moved"
#define NONE_HELD "none is held"
#define NONE_HAPPENED "none happened"

static const mrd__metric rows[] = {
    /* CPU of a process: from a counter, or from a gauge where the source has no counter. */
    {ROW_("cpu.core.pct", "proc.cpu", "cpuNs", CORE, "process", LINUX, IDLE), RATE_(100),
     .formula = "100 * delta / dt; above 100 with several threads, never cut",
     .flags = MRD__METRIC_EXPECTED},
    {ROW_("cpu.norm.pct", "proc.cpu", "cpuNs", CORES, "process", LINUX, IDLE), RATE_(100),
     .divisor = "nCpu", .formula = "100 * delta / (dt * nCpu); never cut",
     .flags = MRD__METRIC_EXPECTED},
    SHARE("cpu.user.pct", "proc.cpu", "userNs", CORE, "process", LINUX, IDLE),
    SHARE("cpu.system.pct", "proc.cpu", "systemNs", CORE, "process", LINUX, IDLE),
    {ROW_("cpu.core.pct", "proc.gauge", "cpuUsage", CORE, "process", "sysmon", IDLE), GAUGE_,
     .formula = AS_READ, .flags = MRD__METRIC_EXPECTED | MRD__METRIC_NEGATIVE_UNSUPPORTED},
    {ROW_("cpu.norm.pct", "proc.gauge", "cpuUsage", CORES, "process", "sysmon", IDLE), GAUGE_,
     .divisor = "nCpu", .formula = "value / nCpu; never cut",
     .flags = MRD__METRIC_EXPECTED | MRD__METRIC_NEGATIVE_UNSUPPORTED},
    GAUGE("mem.footprint.bytes", "proc.gauge", "physFootprint", "bytes", "process", "sysmon",
          NONE_HELD),
    RATE("disk.read.Bps", "proc.gauge", "diskBytesRead", "bytes/s", "process", "sysmon",
         NO_TRAFFIC),
    RATE("disk.write.Bps", "proc.gauge", "diskBytesWritten", "bytes/s", "process", "sysmon",
         NO_TRAFFIC),

    /* The rest of a process. */
    GAUGE("mem.rss.bytes", "proc.mem", "rssBytes", "bytes", "process", LINUX, NONE_HELD),
    GAUGE("mem.rss.anon.bytes", "proc.mem", "rssAnonBytes", "bytes", "process", LINUX, NONE_HELD),
    GAUGE("mem.rss.file.bytes", "proc.mem", "rssFileBytes", "bytes", "process", LINUX, NONE_HELD),
    GAUGE("mem.rss.shmem.bytes", "proc.mem", "rssShmemBytes", "bytes", "process", LINUX, NONE_HELD),
    GAUGE("mem.rss.peak.bytes", "proc.mem", "rssPeakBytes", "bytes", "process", LINUX, NONE_HELD),
    GAUGE("mem.swap.bytes", "proc.mem", "swapBytes", "bytes", "process", LINUX, NONE_HELD),
    GAUGE("mem.virtual.bytes", "proc.mem", "virtualBytes", "bytes", "process", LINUX, NONE_HELD),
    GAUGE("mem.pss.bytes", "proc.pss", "pssBytes", "bytes", "process", LINUX, NONE_HELD),
    GAUGE("mem.private.clean.bytes", "proc.pss", "privateCleanBytes", "bytes", "process", LINUX,
          NONE_HELD),
    GAUGE("mem.private.dirty.bytes", "proc.pss", "privateDirtyBytes", "bytes", "process", LINUX,
          NONE_HELD),
    GAUGE("mem.swap.pss.bytes", "proc.pss", "swapPssBytes", "bytes", "process", LINUX, NONE_HELD),
    RATE("proc.faults.minor.ps", "proc.faults", "minor", "faults/s", "process", LINUX,
         NONE_HAPPENED),
    RATE("proc.faults.major.ps", "proc.faults", "major", "faults/s", "process", LINUX,
         NONE_HAPPENED),
    RATE("proc.ctxt.voluntary.ps", "proc.ctxt", "voluntary", "switches/s", "leader thread", LINUX,
         NONE_HAPPENED),
    RATE("proc.ctxt.involuntary.ps", "proc.ctxt", "involuntary", "switches/s", "leader thread",
         LINUX, NONE_HAPPENED),
    GAUGE("proc.threads", "proc.threads", "threads", "threads", "process", LINUX, "none runs"),
    RATE("disk.read.Bps", "proc.io", "readBytes", "bytes/s", "process", LINUX, NO_TRAFFIC),
    RATE("disk.write.Bps", "proc.io", "writeBytes", "bytes/s", "process", LINUX, NO_TRAFFIC),
    RATE("proc.io.read.Bps", "proc.io", "rcharBytes", "bytes/s", "process", LINUX, NO_TRAFFIC),
    RATE("proc.io.write.Bps", "proc.io", "wcharBytes", "bytes/s", "process", LINUX, NO_TRAFFIC),
    RATE("proc.io.read.ps", "proc.io", "readCalls", "calls/s", "process", LINUX, NONE_HAPPENED),
    RATE("proc.io.write.ps", "proc.io", "writeCalls", "calls/s", "process", LINUX, NONE_HAPPENED),
    SHARE("proc.leader.run.pct", "proc.sched", "leaderRunNs", CORE, "leader thread", LINUX, IDLE),
    SHARE("proc.leader.wait.pct", "proc.sched", "leaderWaitNs", CORE, "leader thread", LINUX,
          "it never waited for a core"),

    /* The machine or device. */
    {ROW_("sys.cpu.pct", "sys.gauge", "CPU_TotalLoad", "percent", "device", "sysmon", IDLE), GAUGE_,
     .formula = AS_READ, .flags = MRD__METRIC_EXPECTED | MRD__METRIC_NEGATIVE_UNSUPPORTED},
    {ROW_("sys.cpu.user.pct", "sys.gauge", "CPU_UserLoad", "percent", "device", "sysmon", IDLE),
     GAUGE_, .formula = AS_READ, .flags = MRD__METRIC_EXPECTED | MRD__METRIC_NEGATIVE_UNSUPPORTED},
    SHARE("sys.cpu.core.pct", "host.cpu", "cpuNs", CORE, "machine", LINUX, IDLE),
    {ROW_("sys.cpu.norm.pct", "host.cpu", "cpuNs", CORES, "machine", LINUX, IDLE), RATE_(100),
     .divisor = "nCpu", .formula = "100 * delta / (dt * nCpu); never cut"},
    SHARE("sys.cpu.mode.user.pct", "host.cpu", "userNs", CORE, "machine", LINUX, IDLE),
    SHARE("sys.cpu.mode.nice.pct", "host.cpu", "niceNs", CORE, "machine", LINUX, IDLE),
    SHARE("sys.cpu.mode.system.pct", "host.cpu", "systemNs", CORE, "machine", LINUX, IDLE),
    SHARE("sys.cpu.mode.idle.pct", "host.cpu", "idleNs", CORE, "machine", LINUX, "never idle"),
    SHARE("sys.cpu.mode.iowait.pct", "host.cpu", "ioWaitNs", CORE, "machine", LINUX, IDLE),
    SHARE("sys.cpu.mode.irq.pct", "host.cpu", "irqNs", CORE, "machine", LINUX, IDLE),
    SHARE("sys.cpu.mode.softirq.pct", "host.cpu", "softIrqNs", CORE, "machine", LINUX, IDLE),
    SHARE("sys.cpu.mode.steal.pct", "host.cpu", "stealNs", CORE, "machine", LINUX,
          "no time was taken by other machines"),
    RATE("sys.ctxt.ps", "host.ctxt", "switches", "switches/s", "machine", LINUX, NONE_HAPPENED),
    GAUGE("sys.mem.total.bytes", "host.mem", "totalBytes", "bytes", "machine", LINUX, NONE_HELD),
    GAUGE("sys.mem.free.bytes", "host.mem", "freeBytes", "bytes", "machine", LINUX, "none is free"),
    GAUGE("sys.mem.available.bytes", "host.mem", "availableBytes", "bytes", "machine", LINUX,
          "none is available"),
    GAUGE("sys.mem.buffers.bytes", "host.mem", "bufferBytes", "bytes", "machine", LINUX, NONE_HELD),
    GAUGE("sys.mem.cached.bytes", "host.mem", "cachedBytes", "bytes", "machine", LINUX, NONE_HELD),
    GAUGE("sys.mem.dirty.bytes", "host.mem", "dirtyBytes", "bytes", "machine", LINUX, NONE_HELD),
    GAUGE("sys.swap.total.bytes", "host.mem", "swapTotalBytes", "bytes", "machine", LINUX,
          "there is no swap"),
    GAUGE("sys.swap.free.bytes", "host.mem", "swapFreeBytes", "bytes", "machine", LINUX,
          "none is free"),
    SHARE_US("psi.some.pct", "psi", "someUs", "percent", "resource", LINUX, "no task stalled"),
    SHARE_US("psi.full.pct", "psi", "fullUs", "percent", "resource", LINUX,
             "never all tasks stalled at once"),
    SHARE_US("cgroup.cpu.core.pct", "cgroup.cpu", "usageUs", CORE, "cgroup", LINUX, IDLE),
    SHARE_US("cgroup.cpu.user.pct", "cgroup.cpu", "userUs", CORE, "cgroup", LINUX, IDLE),
    SHARE_US("cgroup.cpu.system.pct", "cgroup.cpu", "systemUs", CORE, "cgroup", LINUX, IDLE),
    SHARE_US("cgroup.cpu.throttled.pct", "cgroup.cpu", "throttledUs", "percent", "cgroup", LINUX,
             "never throttled"),
    RATE("cgroup.cpu.throttled.ps", "cgroup.cpu", "throttled", "periods/s", "cgroup", LINUX,
         NONE_HAPPENED),
    GAUGE("cgroup.mem.bytes", "cgroup.mem", "currentBytes", "bytes", "cgroup", LINUX, NONE_HELD),
    {ROW_("thermal.c", "thermal", "milliC", "celsius", "zone", LINUX, "0 degrees: a temperature"),
     .type = MRD__METRIC_GAUGE, .numer = 1, .denom = 1000, .freshness_ns = FRESH,
     .aggregate = WEIGHTED, .order = ORDER_GAUGE, .formula = "value / 1000"},
    RATE("disk.device.read.Bps", "disk.io", "readBytes", "bytes/s", "disk", LINUX, NO_TRAFFIC),
    RATE("disk.device.write.Bps", "disk.io", "writeBytes", "bytes/s", "disk", LINUX, NO_TRAFFIC),
    RATE("disk.device.read.ps", "disk.io", "readOps", "operations/s", "disk", LINUX, NONE_HAPPENED),
    RATE("disk.device.write.ps", "disk.io", "writeOps", "operations/s", "disk", LINUX,
         NONE_HAPPENED),
    {ROW_("disk.device.busy.pct", "disk.io", "busyMs", "percent", "disk", LINUX, IDLE),
     RATE_(100000000), .formula = "100 * delta / dt"},

    /* Network. */
    {ROW_("net.rx.Bps", "net.iface", "rxBytes", "bytes/s", "interface", LINUX, NO_TRAFFIC),
     RATE_(1000000000), .formula = "delta / dt", .flags = MRD__METRIC_EXPECTED},
    RATE("net.tx.Bps", "net.iface", "txBytes", "bytes/s", "interface", LINUX, NO_TRAFFIC),
    RATE("net.rx.packets.ps", "net.iface", "rxPackets", "packets/s", "interface", LINUX,
         NO_TRAFFIC),
    RATE("net.tx.packets.ps", "net.iface", "txPackets", "packets/s", "interface", LINUX,
         NO_TRAFFIC),
    RATE("net.rx.errors.ps", "net.iface", "rxErrors", "errors/s", "interface", LINUX,
         NONE_HAPPENED),
    RATE("net.tx.errors.ps", "net.iface", "txErrors", "errors/s", "interface", LINUX,
         NONE_HAPPENED),
    RATE("net.rx.drops.ps", "net.iface", "rxDrops", "packets/s", "interface", LINUX, NONE_HAPPENED),
    RATE("net.tx.drops.ps", "net.iface", "txDrops", "packets/s", "interface", LINUX, NONE_HAPPENED),
    {ROW_("net.rx.Bps", "net.conn", "rxBytes", "bytes/s", "connection", "netstat", NO_TRAFFIC),
     RATE_(1000000000), .formula = "delta / dt of one serial; what is sent again is no reading",
     .flags = MRD__METRIC_EXPECTED | MRD__METRIC_KEYED},
    {ROW_("net.tx.Bps", "net.conn", "txBytes", "bytes/s", "connection", "netstat", NO_TRAFFIC),
     RATE_(1000000000), .formula = "delta / dt of one serial; what is sent again is no reading",
     .flags = MRD__METRIC_KEYED},

    /* The screen. */
    {ROW_("fps.ca", "graphics", "CoreAnimationFramesPerSecond", "fps", "display", "graphics",
          "a still screen"),
     GAUGE_, .formula = AS_READ, .flags = MRD__METRIC_EXPECTED},
    {ROW_("frame.time.ms", "frame", "", "ms", "display", "frames", "never: dt <= 0 is a break"),
     .type = MRD__METRIC_INTERVAL, .numer = 1, .denom = 1000000,
     .breaks = MRD__BREAK_TIME | MRD__BREAK_FOREGROUND | MRD__BREAK_DISPLAY | MRD__BREAK_TIMEBASE,
     .formula = "presentation - the previous one on this display; jank.v1 marks those above twice "
                "the mean of the three before and above 1000/24*2 ms, big ones above 125 ms",
     .aggregate = "mean is total frame time / frames; percentiles of the frame times",
     .order = ORDER_FRAME},
    {ROW_("fps.display.1s", "frame", "", "fps", "display", "frames and ticks", "a still screen"),
     .type = MRD__METRIC_WINDOW, .window_ns = SECOND, .numer = 1, .denom = 1,
     .breaks = MRD__BREAK_TIME | MRD__BREAK_FOREGROUND | MRD__BREAK_DISPLAY | MRD__BREAK_TIMEBASE,
     .formula = "presentations of an age below 1 s; age = last - presentation + tick - receipt of "
                "the last",
     .bridge = "moves the window on from the last presentation; makes no frame time",
     .aggregate = WEIGHTED,
     .order = "not-foreground, missing (no frame in this segment), warmup (segment below 1 s)"},

    /* Launches. */
    {ROW_("startup.span.ns", "span", "startTicks, endTicks", "ns", "launch phase", "launch",
          "begin and end in one tick"),
     .type = MRD__METRIC_INTERVAL, .numer = 1, .denom = 1, .breaks = MRD__BREAK_TIME,
     .formula = "floor((end - start) * numer / denom), 128 bits",
     .aggregate = "each phase; their sum, and what is left of the phase `total`",
     .order = "not-applicable, unsupported, missing, discontinuity"},

    /* GPU, battery, power: of adapters. */
    GAUGE("gpu.device.pct", "gpu", "devicePct", "percent", "gpu", "driver", IDLE),
    GAUGE("gpu.renderer.pct", "gpu", "rendererPct", "percent", "gpu", "driver", IDLE),
    GAUGE("gpu.tiler.pct", "gpu", "tilerPct", "percent", "gpu", "driver", IDLE),
    GAUGE("gpu.memory.bytes", "gpu", "memoryBytes", "bytes", "gpu", "driver", NONE_HELD),
    GAUGE("battery.level.pct", "battery", "levelPct", "percent", "device", "battery", "empty"),
    GAUGE("battery.temperature.c", "battery", "celsius", "celsius", "device", "battery",
          "0 degrees: a temperature"),
    GAUGE("power.w", "power", "watts", "watts", "device", "battery or driver", "nothing is drawn"),
};
#define ROWS (sizeof rows / sizeof rows[0])

const mrd__metric *mrd__registry(size_t *count)
{
    *count = ROWS;
    return rows;
}

const mrd__metric *mrd__registry_find(mrd__str id)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (mrd__str_is(id, rows[i].id)) return &rows[i];
    }
    return NULL;
}

size_t mrd__registry_rows(mrd__str kind, const mrd__metric **first)
{
    size_t from = 0;
    while (from < ROWS && !mrd__str_is(kind, rows[from].kind))
        from++;
    size_t to = from;
    while (to < ROWS && mrd__str_is(kind, rows[to].kind))
        to++;
    *first = from < ROWS ? &rows[from] : NULL;
    return to - from;
}

const char *mrd__metric_kind_name(mrd__metric_kind kind)
{
    static const char *const names[] = {"gauge", "rate", "interval", "window"};
    return names[kind];
}

const char *mrd__metric_status_name(mrd__metric_status status)
{
    static const char *const names[] = {"current", "compare", "historical"};
    return names[status];
}

const char *mrd__metric_evidence_name(mrd__metric_evidence evidence)
{
    static const char *const names[] = {"unit-tested", "software-loop", "device"};
    return names[evidence];
}

void mrd__registry_semantics(mrd__buf *out, const mrd__metric *m)
{
    const char *const texts[] = {m->id,
                                 m->kind,
                                 m->source_key,
                                 m->source,
                                 m->unit,
                                 m->scope,
                                 mrd__role_name(m->role),
                                 mrd__metric_kind_name(m->type),
                                 m->zero_rule,
                                 m->formula,
                                 m->divisor != NULL ? m->divisor : "",
                                 m->bridge != NULL ? m->bridge : "",
                                 m->aggregate,
                                 m->order};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        mrd__buf_text(out, texts[i]);
        mrd__buf_char(out, '\n');
    }
    mrd__buf_printf(out, "%lld %lld %u %u %u %u\n", (long long)m->window_ns,
                    (long long)m->freshness_ns, m->numer, m->denom, m->breaks, m->flags);
}

void mrd__registry_hash(const mrd__metric *metric, char out[65])
{
    mrd__buf text = {0};
    mrd__registry_semantics(&text, metric);
    mrd__sha256_hex(text.data, text.size, out);
    mrd__buf_reset(&text);
}

mrd_status mrd__registry_check(mrd__str definitions, mrd_error *error)
{
    if (mrd__str_is(definitions, MRD__DEFINITIONS)) return MRD_OK;
    int size = definitions.size > 64 ? 64 : (int)definitions.size;
    return mrd__fail(error, MRD_ERR_UNSUPPORTED, "definitions",
                     "the session's metrics are defined by \"%.*s\", this program has \"%s\"", size,
                     definitions.data, MRD__DEFINITIONS);
}
