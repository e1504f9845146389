/* meridian.h, Traces: a handle is a sealed store; every question goes to its module. */
#include "api/trace.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/os.h"
#include "export/export.h"
#include "meridian.h"
#include "open/cache.h"
#include "open/open.h"
#include "query/query.h"

#include <string.h>

/* Table folders and sessions are opened by the file in them that says what they hold; a session
 * that has no manifest yet by session.json, which refuses it by name. */
static char *path_of(const char *path)
{
    static const char *const names[] = {MRD_TABLES_FILE, "metrics-manifest.json", "session.json"};
    mrd__buf inside = {0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        mrd__buf_clear(&inside);
        mrd__buf_printf(&inside, "%s/%s", path, names[i]);
        if (mrd__file_exists(inside.data)) return inside.data;
    }
    mrd__buf_reset(&inside);
    return mrd__strndup(path, strlen(path));
}

mrd_status mrd_trace_open(const char *const *paths, size_t count, const mrd_open_options *options,
                          mrd_trace **out, mrd_error *error)
{
    mrd__assert(out != NULL && (paths != NULL || count == 0));
    mrd__store *store = NULL;
    char **files = mrd__new_array(char *, count + 1);
    for (size_t i = 0; i < count; i++)
        files[i] = path_of(paths[i]);
    const char *const *named = (const char *const *)files;
    mrd__buf key = {0};
    /* Before a byte is read: what changes meanwhile must not be found under the key later. */
    bool known = mrd__cache_key(named, count, options, &key);
    bool warm = known && options != NULL && options->cache &&
                mrd__cache_open((mrd__str){key.data, key.size}, options->verify_cache,
                                options->threads, &store);
    mrd_status status = warm ? MRD_OK : mrd__open(named, count, options, &store, error);
    if (status != MRD_OK || !known) mrd__buf_reset(&key);
    for (size_t i = 0; i < count; i++)
        mrd__free(files[i]);
    mrd__free(files);
    if (status != MRD_OK) return status;
    *out = mrd__new(mrd_trace);
    (*out)->cache_key = key;
    (*out)->store = store;
    (*out)->sql = mrd__trace_sql_create();
    return MRD_OK;
}

void mrd_trace_close(mrd_trace **trace)
{
    if (trace == NULL || *trace == NULL) return;
    mrd__trace_sql_destroy(&(*trace)->sql);
    mrd__store_destroy(&(*trace)->store);
    mrd__buf_reset(&(*trace)->cache_key);
    mrd__free(*trace);
    *trace = NULL;
}

bool mrd_trace_has_losses(const mrd_trace *trace)
{
    mrd__assert(trace != NULL);
    return trace->store->loss_count > 0;
}

bool mrd_trace_is_event_trace(const mrd_trace *trace)
{
    mrd__assert(trace != NULL);
    const mrd__store *store = trace->store;
    return store->events != NULL && store->slices.count == 0 && store->instants.count == 0 &&
           store->counters.count == 0;
}

mrd_status mrd_trace_info(const mrd_trace *trace, mrd_format format, const mrd_sink *sink,
                          mrd_error *error)
{
    mrd__assert(trace != NULL && sink != NULL);
    return mrd__export_info(trace->store, format, sink, error);
}

mrd_status mrd_trace_dump(const mrd_trace *trace, const char *table, mrd_format format,
                          const mrd_sink *sink, mrd_error *error)
{
    mrd__assert(trace != NULL && table != NULL && sink != NULL);
    return mrd__export_dump(trace->store, table, format, sink, error);
}

mrd_status mrd_trace_summary(const mrd_trace *trace, const mrd_sink *sink, mrd_error *error)
{
    mrd__assert(trace != NULL && sink != NULL);
    return mrd__export_summary(trace->store, sink, error);
}

mrd_status mrd_trace_clocks(const mrd_trace *trace, mrd_format format, const mrd_sink *sink,
                            mrd_error *error)
{
    mrd__assert(trace != NULL && sink != NULL);
    return mrd__export_clocks(trace->store, format, sink, error);
}

mrd_status mrd_trace_lanes(const mrd_trace *trace, const mrd_sink *sink, mrd_error *error)
{
    mrd__assert(trace != NULL && sink != NULL);
    return mrd__query_lanes(trace->store, sink, error);
}

mrd_status mrd_trace_slice(const mrd_trace *trace, uint32_t track, uint64_t id,
                           const mrd_sink *sink, mrd_error *error)
{
    mrd__assert(trace != NULL && sink != NULL);
    return mrd__query_detail(trace->store, track, id, sink, error);
}

mrd_status mrd_trace_window(const mrd_trace *trace, const mrd_params *params, bool absolute,
                            mrd_format format, const mrd_sink *sink, mrd_error *error)
{
    mrd__assert(trace != NULL && params != NULL && sink != NULL);
    return mrd__query_window(trace->store, params, absolute, format, sink, error);
}

mrd_status mrd_trace_event_window(const mrd_trace *trace, const mrd_params *params,
                                  mrd_format format, const mrd_sink *sink, mrd_error *error)
{
    mrd__assert(trace != NULL && params != NULL && sink != NULL);
    return mrd__query_event_window(trace->store, params, format, sink, error);
}
