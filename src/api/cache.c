/* meridian.h: what is kept of traces that were opened before. */
#include "open/cache.h"

#include "api/trace.h"
#include "base/assert.h"
#include "base/error.h"
#include "meridian.h"

#include <string.h>

mrd_status mrd_trace_cache(const mrd_trace *trace, mrd_error *error)
{
    mrd__assert(trace != NULL);
    if (trace->store->image != NULL) return MRD_OK;
    if (trace->cache_key.size == 0)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "not_cacheable",
                         "only traces of regular files are kept, at most %d of them",
                         MRD__CACHE_INPUTS);
    return mrd__cache_write(trace->store, (mrd__str){trace->cache_key.data, trace->cache_key.size},
                            error);
}

static void add_json(mrd__buf *out, const mrd__cache_entry *entry)
{
    mrd__buf_text(out, "{\"path\":");
    mrd__buf_json_string(out, mrd__str_of(entry->path));
    mrd__buf_printf(out, ",\"bytes\":%llu,\"used_ns\":%lld,\"inputs\":",
                    (unsigned long long)entry->bytes, (long long)entry->used_ns);
    if (entry->inputs == NULL) {
        mrd__buf_text(out, "null}");
        return;
    }
    const char *separator = "[";
    for (const char *line = entry->inputs; *line != '\0';) {
        size_t size = strcspn(line, "\n");
        mrd__buf_text(out, separator);
        mrd__buf_json_string(out, (mrd__str){line, size});
        separator = ",";
        line += size + (line[size] == '\n');
    }
    mrd__buf_text(out, "]}");
}

static void add_text(mrd__buf *out, const mrd__cache_entry *entry)
{
    size_t size = entry->inputs != NULL ? strcspn(entry->inputs, "\n") : 0;
    const char *more =
        entry->inputs != NULL && strchr(entry->inputs, '\n') != strrchr(entry->inputs, '\n')
            ? " and others"
            : "";
    mrd__buf_printf(out, "%8.1f MB  %.*s%s\n", (double)entry->bytes / 1e6,
                    size > 0 ? (int)size : (int)strlen("(another build)"),
                    size > 0 ? entry->inputs : "(another build)", more);
}

mrd_status mrd_cache_list(mrd_format format, const mrd_sink *sink, mrd_error *error)
{
    mrd__cache_entries entries;
    mrd_status status = mrd__cache_list(&entries, error);
    mrd__buf out = {0};
    uint64_t bytes = 0;
    if (format == MRD_FORMAT_JSON) mrd__buf_text(&out, "{\"images\":[");
    for (size_t i = 0; i < entries.count; i++) {
        bytes += entries.data[i].bytes;
        if (format == MRD_FORMAT_JSON) {
            if (i > 0) mrd__buf_char(&out, ',');
            add_json(&out, &entries.data[i]);
        } else {
            add_text(&out, &entries.data[i]);
        }
    }
    if (format == MRD_FORMAT_JSON)
        mrd__buf_printf(&out, "],\"bytes\":%llu}\n", (unsigned long long)bytes);
    else
        mrd__buf_printf(&out, "%8.1f MB in %zu images\n", (double)bytes / 1e6, entries.count);
    if (status == MRD_OK) status = mrd__buf_flush(&out, sink, error);
    mrd__buf_reset(&out);
    mrd__cache_entries_reset(&entries);
    return status;
}

mrd_status mrd_cache_clear(uint64_t *files, uint64_t *bytes, mrd_error *error)
{
    mrd__assert(files != NULL && bytes != NULL);
    return mrd__cache_clear(files, bytes, error);
}
