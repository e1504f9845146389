/* meridian.h, Results: parameters become fields, a foreign trace is checked before it is taken. */
#include "api/results.h"
#include "base/alloc.h"
#include "base/error.h"
#include "meridian.h"

mrd_status mrd_results_open(const char *data_dir, const char *store_url, mrd_results **out,
                            mrd_error *error)
{
    mrd__results *store = NULL;
    MRD__TRY(mrd__results_open(data_dir, store_url, &store, error));
    *out = mrd__new(mrd_results);
    (*out)->store = store;
    return MRD_OK;
}

void mrd_results_close(mrd_results **results)
{
    if (!results || !*results) return;
    mrd__results_close(&(*results)->store);
    mrd__free(*results);
    *results = NULL;
}

/* A file that is no event trace must not get a row. */
static mrd_status check_trace(const char *path, mrd_error *error)
{
    mrd_trace *trace = NULL;
    MRD__TRY(mrd_trace_open(&path, 1, NULL, &trace, error));
    bool events = mrd_trace_is_event_trace(trace);
    mrd_trace_close(&trace);
    if (events) return MRD_OK;
    (void)mrd__fail(error, MRD_ERR_FORMAT, "bad_trace",
                    "not an event trace (Parquet with time_ns, category, component, value)");
    return mrd__fail_at(error, MRD_ERR_FORMAT, path, -1);
}

mrd_status mrd_results_add(mrd_results *results, const char *parquet_path, const char *experiment,
                           const mrd_params *given, bool link, int64_t *id, mrd_error *error)
{
    mrd__fields list = {0};
    MRD__TRY(check_trace(parquet_path, error));
    mrd_status status = mrd__fields_of(given, &list, error);
    if (status == MRD_OK)
        status = mrd__results_add(results->store, parquet_path, experiment, list.items.data,
                                  list.items.count, link, id, error);
    mrd__fields_reset(&list);
    return status;
}

mrd_status mrd_results_list(mrd_results *results, const mrd_params *filters, mrd_format format,
                            const mrd_sink *sink, mrd_error *error)
{
    mrd__fields list = {0};
    mrd_status status = mrd__fields_of(filters, &list, error);
    if (status == MRD_OK)
        status = mrd__results_list(results->store, list.items.data, list.items.count, format, sink,
                                   error);
    mrd__fields_reset(&list);
    return status;
}

mrd_status mrd_results_show(mrd_results *results, int64_t id, mrd_format format,
                            const mrd_sink *sink, mrd_error *error)
{
    return mrd__results_show(results->store, id, format, sink, error);
}

mrd_status mrd_results_remove(mrd_results *results, int64_t id, mrd_error *error)
{
    return mrd__results_remove(results->store, id, error);
}

mrd_status mrd_results_remove_experiment(mrd_results *results, const char *name, uint64_t *removed,
                                         mrd_error *error)
{
    return mrd__results_remove_experiment(results->store, name, removed, error);
}

mrd_status mrd_results_trace_path(mrd_results *results, int64_t id, char *out, size_t size,
                                  mrd_error *error)
{
    return mrd__results_trace_path(results->store, id, out, size, error);
}

const char *mrd_results_report(const mrd_results *results)
{
    return mrd__results_report(results->store);
}

mrd_status mrd_results_compare(mrd_results *results, const mrd_params *params, const mrd_sink *sink,
                               mrd_error *error)
{
    mrd__fields list = {0};
    mrd_status status = mrd__fields_of(params, &list, error);
    if (status == MRD_OK)
        status =
            mrd__results_compare(results->store, list.items.data, list.items.count, sink, error);
    mrd__fields_reset(&list);
    return status;
}

mrd_status mrd_experiment_add(mrd_results *results, const char *name, const char *description,
                              int64_t *id, mrd_error *error)
{
    return mrd__results_experiment_add(results->store, name, description, id, error);
}

mrd_status mrd_experiment_show(mrd_results *results, int64_t id, const mrd_sink *sink,
                               mrd_error *error)
{
    return mrd__results_experiments(results->store, id, sink, error);
}

mrd_status mrd_experiment_remove(mrd_results *results, int64_t id, uint64_t *removed,
                                 mrd_error *error)
{
    return mrd__results_remove_experiment_id(results->store, id, removed, error);
}
