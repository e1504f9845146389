#include "base/error.h"
#include "export/counts.h"
#include "export/export.h"
#include "export/tables.h"
#include "model/events.h"

#include <inttypes.h>

/* ---- JSON ---- */

static void name_json(mrd__buf *out, const char *name, bool first)
{
    mrd__buf_printf(out, "%s\"%s\":", first ? "{" : ",", name);
}

static void text_json(mrd__buf *out, const char *name, const char *text, bool first)
{
    name_json(out, name, first);
    mrd__buf_json_string(out, mrd__str_of(text));
}

static void number_json(mrd__buf *out, const char *name, uint64_t value, bool first)
{
    name_json(out, name, first);
    mrd__buf_uint(out, value);
}

static void phases_json(mrd__buf *out, const mrd__file *file)
{
    bool first = true;
    mrd__buf_char(out, '{');
    for (int letter = 0; letter < 128; letter++) {
        char name = (char)letter;
        if (file->phases[letter] == 0) continue;
        if (!first) mrd__buf_char(out, ',');
        mrd__buf_json_string(out, (mrd__str){&name, 1});
        mrd__buf_char(out, ':');
        mrd__buf_uint(out, file->phases[letter]);
        first = false;
    }
    mrd__buf_char(out, '}');
}

static void files_json(mrd__buf *out, const mrd__store *store)
{
    mrd__buf_char(out, '[');
    for (size_t i = 0; i < store->file_count; i++) {
        const mrd__file *file = &store->files[i];
        if (i > 0) mrd__buf_char(out, ',');
        text_json(out, "path", file->path, true);
        text_json(out, "format", file->format, false);
        number_json(out, "bytes", file->bytes, false);
        if (file->clock != NULL) /* archives and what nobody read have none */
            text_json(out, "clock", file->clock, false);
        else
            mrd__buf_text(out, ",\"clock\":null");
        number_json(out, "events", file->events, false);
        name_json(out, "phases", false);
        phases_json(out, file);
        if (file->gzip_members > 0) number_json(out, "gzip_members", file->gzip_members, false);
        mrd__buf_char(out, '}');
    }
    mrd__buf_char(out, ']');
}

static void range_json(mrd__buf *out, const mrd__store *store, int64_t start, int64_t end)
{
    if (store->empty) {
        mrd__buf_text(out, "null");
        return;
    }
    mrd__buf_printf(out, "{\"start_ns\":%" PRId64 ",\"end_ns\":%" PRId64 "}", start, end);
}

static void metadata_json(mrd__buf *out, const mrd__store *store)
{
    mrd__buf_char(out, '{');
    for (size_t i = 0; i < store->metadata_count; i++) {
        const mrd__metadata *one = &store->metadata[i];
        mrd__str value = mrd__store_str(store, one->value);
        if (i > 0) mrd__buf_char(out, ',');
        mrd__buf_json_string(out, mrd__store_str(store, one->key));
        mrd__buf_char(out, ':');
        if (mrd__metadata_is_json(one, value))
            mrd__buf_str(out, value);
        else
            mrd__buf_json_string(out, value);
    }
    mrd__buf_char(out, '}');
}

static void memory_json(mrd__buf *out, const mrd__store *store)
{
    mrd__store_memory memory;
    uint64_t resident;
    uint64_t peak;
    mrd__store_memory_of(store, &memory);
    mrd__process_memory(&resident, &peak);
    number_json(out, "slices", memory.slices, true);
    number_json(out, "rows", memory.rows, false);
    number_json(out, "instants", memory.instants, false);
    number_json(out, "counters", memory.counters, false);
    number_json(out, "flows", memory.flows, false);
    number_json(out, "events", memory.events, false);
    number_json(out, "intervals", memory.intervals, false);
    number_json(out, "strings", memory.strings, false);
    number_json(out, "args", memory.args, false);
    number_json(out, "mapped", memory.mapped, false);
    number_json(out, "total", memory.total, false);
    number_json(out, "process_resident", resident, false);
    number_json(out, "process_peak", peak, false);
    mrd__buf_char(out, '}');
}

static void info_json(mrd__buf *out, const mrd__store *store)
{
    mrd__counts counts = mrd__counts_of(store);
    name_json(out, "files", true);
    files_json(out, store);
    name_json(out, "bounds", false);
    range_json(out, store, store->start_ns, store->end_ns);
    name_json(out, "view", false);
    range_json(out, store, store->view_start_ns, store->view_end_ns);
    name_json(out, "counts", false);
    mrd__counts_json(out, &counts);
    name_json(out, "losses", false);
    mrd__losses_json(out, store);
    name_json(out, "metadata", false);
    metadata_json(out, store);
    name_json(out, "memory", false);
    memory_json(out, store);
    mrd__buf_text(out, "}\n");
}

/* ---- Text for people ---- */

/* A length of time with a unit that fits: 1.234 ms. */
static void duration_text(mrd__buf *out, double ns)
{
    static const struct {
        double factor;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    size_t i = 0;
    while (i + 1 < sizeof units / sizeof units[0] && ns < units[i].factor)
        i++;
    mrd__buf_printf(out, "%.*f %s", units[i].factor > 1 ? 3 : 0, ns / units[i].factor,
                    units[i].unit);
}

static void files_text(mrd__buf *out, const mrd__store *store)
{
    for (size_t i = 0; i < store->file_count; i++) {
        const mrd__file *file = &store->files[i];
        mrd__buf_printf(out, "file     %s\n", file->path);
        mrd__buf_printf(out, "         %s, %" PRIu64 " bytes, clock %s, %" PRIu64 " events",
                        file->format, file->bytes, file->clock != NULL ? file->clock : "none",
                        file->events);
        const char *before = " (";
        for (int letter = 0; letter < 128; letter++) {
            if (file->phases[letter] == 0) continue;
            mrd__buf_text(out, before);
            before = ", ";
            if (letter > 0x20 && letter < 0x7f)
                mrd__buf_printf(out, "%c", letter);
            else
                mrd__buf_printf(out, "\\x%02x", (unsigned)letter);
            mrd__buf_printf(out, " %" PRIu64, file->phases[letter]);
        }
        mrd__buf_text(out, before[0] == ',' ? ")\n" : "\n");
    }
}

static void range_text(mrd__buf *out, const char *title, int64_t start, int64_t end)
{
    mrd__buf_printf(out, "%-8s %" PRId64 " .. %" PRId64 " ns, ", title, start, end);
    duration_text(out, (double)((uint64_t)end - (uint64_t)start));
    mrd__buf_char(out, '\n');
}

static void counts_text(mrd__buf *out, const mrd__store *store)
{
    mrd__counts n = mrd__counts_of(store);
    mrd__buf_printf(
        out,
        "counts   %" PRIu64 " processes, %" PRIu64 " threads, %" PRIu64 " tracks\n         %" PRIu64
        " slices (%" PRIu64 " unclosed), %" PRIu64 " instants, %" PRIu64
        " counter samples, %" PRIu64 " flows, %" PRIu64 " event records\n",
        n.process, n.thread, n.track, n.slice, n.unclosed, n.instant, n.counter, n.flow, n.event);
}

static void losses_text(mrd__buf *out, const mrd__store *store)
{
    if (store->loss_count == 0) mrd__buf_text(out, "losses   none\n");
    for (size_t i = 0; i < store->loss_count; i++) {
        const mrd__loss *loss = &store->losses[i];
        const mrd__loss_info *info = mrd__loss_info_of(loss->id);
        mrd__buf_printf(out, "%-8s %s %s: %" PRIu64, i == 0 ? "losses" : "",
                        mrd__severity_name(info->severity), info->name, loss->count);
        if (loss->letter != '\0')
            mrd__buf_printf(out, " (%c)", loss->letter);
        else if (loss->worst_ns != 0)
            mrd__buf_printf(out, " (worst %" PRId64 " ns)", loss->worst_ns);
        if (store->file_count > 1 && loss->file < store->file_count)
            mrd__buf_printf(out, " in %s", store->files[loss->file].path);
        if (loss->offset >= 0) mrd__buf_printf(out, ", first at offset %" PRId64, loss->offset);
        mrd__buf_printf(out, "\n             %s\n", info->advice);
    }
}

static void memory_text(mrd__buf *out, const mrd__store *store)
{
    mrd__store_memory memory;
    uint64_t resident;
    uint64_t peak;
    mrd__store_memory_of(store, &memory);
    mrd__process_memory(&resident, &peak);
    mrd__buf_printf(out, "memory   store %.1f MB, process peak %.1f MB\n",
                    (double)memory.total * 1e-6, (double)peak * 1e-6);
}

static void info_text(mrd__buf *out, const mrd__store *store)
{
    files_text(out, store);
    if (store->empty) {
        mrd__buf_text(out, "bounds   none: the trace is empty\n");
    } else {
        range_text(out, "bounds", store->start_ns, store->end_ns);
        range_text(out, "view", store->view_start_ns, store->view_end_ns);
    }
    counts_text(out, store);
    losses_text(out, store);
    memory_text(out, store);
}

mrd_status mrd__export_info(const mrd__store *store, mrd_format format, const mrd_sink *sink,
                            mrd_error *error)
{
    if (format != MRD_FORMAT_TEXT && format != MRD_FORMAT_JSON)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_format", "info is written as text or json");
    mrd__buf out = {0};
    if (format == MRD_FORMAT_JSON)
        info_json(&out, store);
    else
        info_text(&out, store);
    mrd_status status = mrd__buf_flush(&out, sink, error);
    mrd__buf_reset(&out);
    return status;
}

/* ---- What the page asks of an opened trace ---- */

static void relative_json(mrd__buf *out, const mrd__store *store, int64_t start, int64_t end)
{
    double from = (double)(start - store->origin_ns);
    double to = (double)(end - store->origin_ns);
    if (store->events != NULL && store->slices.count + store->instants.count == 0 &&
        store->counters.count == 0) {
        from = store->events->start_ns;
        to = store->events->end_ns;
    }
    mrd__buf_text(out, "\"start_ns\":");
    mrd__buf_json_double(out, from);
    mrd__buf_text(out, ",\"end_ns\":");
    mrd__buf_json_double(out, to);
    mrd__buf_char(out, '}');
}

mrd_status mrd__export_summary(const mrd__store *store, const mrd_sink *sink, mrd_error *error)
{
    mrd__buf out = {0};
    mrd__counts counts = mrd__counts_of(store);
    if (store->empty && store->events == NULL) {
        mrd__buf_text(&out, "{\"bounds\":null,\"view\":null");
    } else {
        mrd__buf_printf(&out, "{\"bounds\":{\"origin_ns\":\"%" PRId64 "\",", store->origin_ns);
        relative_json(&out, store, store->start_ns, store->end_ns);
        name_json(&out, "view", false);
        mrd__buf_char(&out, '{');
        relative_json(&out, store, store->view_start_ns, store->view_end_ns);
    }
    name_json(&out, "files", false);
    files_json(&out, store);
    name_json(&out, "counts", false);
    mrd__counts_json(&out, &counts);
    name_json(&out, "losses", false);
    mrd__losses_json(&out, store);
    mrd__buf_char(&out, '}');
    mrd_status status = mrd__buf_flush(&out, sink, error);
    mrd__buf_reset(&out);
    return status;
}
