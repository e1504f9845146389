/* meridian.h, SQL: a trace's databases are opened when the first statement comes. */
#include "sql/sql.h"
#include "api/trace.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"

#include <pthread.h>

struct mrd__trace_sql {
    pthread_mutex_t lock;
    mrd__sql *bases[2]; /* without and with access to files */
};

/* A query of the API is one of src/sql. */
struct mrd_query {
    mrd__sql_query *query;
};

struct mrd__trace_sql *mrd__trace_sql_create(void)
{
    struct mrd__trace_sql *sql = mrd__new(struct mrd__trace_sql);
    pthread_mutex_init(&sql->lock, NULL);
    return sql;
}

void mrd__trace_sql_destroy(struct mrd__trace_sql **sql)
{
    if (*sql == NULL) return;
    for (int i = 0; i < 2; i++)
        mrd__sql_close(&(*sql)->bases[i]);
    pthread_mutex_destroy(&(*sql)->lock);
    mrd__free(*sql);
    *sql = NULL;
}

static mrd_status base_of(const mrd_trace *trace, const mrd_query_options *options, mrd__sql **out,
                          mrd_error *error)
{
    mrd__sql_config config = {.threads = options->threads, .files = options->files};
    mrd__sql **base = &trace->sql->bases[options->files];
    pthread_mutex_lock(&trace->sql->lock);
    mrd_status status = *base != NULL ? MRD_OK : mrd__sql_open(trace->store, &config, base, error);
    *out = *base;
    pthread_mutex_unlock(&trace->sql->lock);
    return status;
}

mrd_status mrd_query_start(const mrd_trace *trace, const char *sql, size_t size, mrd_format format,
                           const mrd_query_options *options, mrd_query **out, mrd_error *error)
{
    static const mrd__sql_format formats[] = {
        [MRD_FORMAT_TEXT] = MRD__SQL_TABLE,
        [MRD_FORMAT_CSV] = MRD__SQL_CSV,
        [MRD_FORMAT_JSON] = MRD__SQL_JSON,
        [MRD_FORMAT_ARROW] = MRD__SQL_ARROW,
    };
    static const mrd_query_options defaults = {0};
    mrd__assert(trace != NULL && sql != NULL && out != NULL);
    if (options == NULL) options = &defaults;
    *out = NULL;
    mrd__sql *base = NULL;
    mrd__sql_query *query = NULL;
    MRD__TRY(base_of(trace, options, &base, error));
    MRD__TRY(mrd__sql_start(base, (mrd__str){sql, size}, formats[format],
                            (uint64_t)options->time_ms * 1000000, &query, error));
    *out = mrd__new(mrd_query);
    (*out)->query = query;
    return MRD_OK;
}

mrd_status mrd_query_step(mrd_query *query, const mrd_sink *sink, bool *more, mrd_error *error)
{
    mrd__assert(query != NULL && sink != NULL && more != NULL);
    return mrd__sql_step(query->query, sink, more, error);
}

void mrd_query_finish(mrd_query **query)
{
    if (query == NULL || *query == NULL) return;
    mrd__sql_finish(&(*query)->query);
    mrd__free(*query);
    *query = NULL;
}

mrd_status mrd_query_parquet(const mrd_trace *trace, const char *sql, size_t size,
                             const mrd_query_options *options, int fd, mrd_error *error)
{
    mrd__assert(trace != NULL && sql != NULL && fd >= 0);
    mrd_query_options files = options != NULL ? *options : (mrd_query_options){0};
    mrd__sql *base = NULL;
    files.files = true;
    MRD__TRY(base_of(trace, &files, &base, error));
    return mrd__sql_parquet(base, (mrd__str){sql, size}, fd, error);
}
