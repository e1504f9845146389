/* One statement: checked, started, fetched piece by piece, stopped after its time. */
#include "base/alloc.h"
#include "base/error.h"
#include "sql/answer.h"
#include "sql/place.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define NS_PER_S 1000000000ull

/* ---- Time limit: a thread that sleeps until the statement is over or too old ---- */

struct mrd__sql_watch {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool ended, fired;
    uint64_t deadline_ns;
    const mrd__duck_api *api;
    duckdb_connection connection;
};

static void *watch(void *ctx)
{
    struct mrd__sql_watch *w = ctx;
    struct timespec until = {.tv_sec = (time_t)(w->deadline_ns / NS_PER_S),
                             .tv_nsec = (long)(w->deadline_ns % NS_PER_S)};
    pthread_mutex_lock(&w->lock);
    while (!w->ended && mrd__monotonic_ns() < w->deadline_ns)
        pthread_cond_timedwait(&w->over, &w->lock, &until);
    w->fired = !w->ended;
    /* Under the lock, so that the connection is still there; once is enough but for a statement
     * that has not begun to run, so it is said until it ends. */
    while (!w->ended) {
        w->api->interrupt(w->connection);
        until.tv_sec++;
        pthread_cond_timedwait(&w->over, &w->lock, &until);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void watch_begin(mrd__sql_query *query, uint64_t time_ns)
{
    struct mrd__sql_watch *w = mrd__new(struct mrd__sql_watch);
    pthread_condattr_t monotonic;
    w->api = query->api;
    w->connection = query->connection;
    w->deadline_ns = mrd__monotonic_ns() + time_ns;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->over, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&w->thread, NULL, watch, w) == 0) {
        query->watch = w;
        return;
    }
    pthread_cond_destroy(&w->over);
    pthread_mutex_destroy(&w->lock);
    mrd__free(w);
}

static void watch_end(mrd__sql_query *query)
{
    struct mrd__sql_watch *w = query->watch;
    if (w == NULL) return;
    pthread_mutex_lock(&w->lock);
    w->ended = true;
    pthread_cond_signal(&w->over);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->over);
    pthread_mutex_destroy(&w->lock);
    mrd__free(w);
    query->watch = NULL;
}

static bool watch_fired(const mrd__sql_query *query)
{
    struct mrd__sql_watch *w = query->watch;
    if (w == NULL) return false;
    pthread_mutex_lock(&w->lock);
    bool fired = w->fired;
    pthread_mutex_unlock(&w->lock);
    return fired;
}

/* ---- Errors ---- */

static void place_of(const mrd__sql_query *query, int64_t place, size_t *line, size_t *column)
{
    *line = *column = 1;
    for (size_t i = query->before; i < query->before + (size_t)place; i++) {
        ++*column;
        if (query->text.data[i] != '\n') continue;
        ++*line;
        *column = 1;
    }
}

static mrd_status fail(const mrd__sql_query *query, mrd_error *error, const char *message)
{
    if (message == NULL || *message == '\0') message = "DuckDB gives no reason";
    if (strstr(message, "INTERRUPT Error") != NULL && watch_fired(query))
        return mrd__fail(error, MRD_ERR_LIMIT, "sql_time", "the statement took too long");
    if (strstr(message, "INTERRUPT Error") != NULL)
        return mrd__fail(error, MRD_ERR_CANCELLED, "cancelled", "the statement was stopped");
    if (strncmp(message, "Out of Memory", 13) == 0)
        return mrd__fail(error, MRD_ERR_LIMIT, "sql_memory", "%.400s", message);
    if (strncmp(message, "INTERNAL Error", 14) == 0 || strncmp(message, "FATAL Error", 11) == 0)
        return mrd__fail(error, MRD_ERR_INTERNAL, "duckdb", "%.600s", message);
    mrd__str text = {query->text.data, query->text.size};
    int64_t place = mrd__sql_place(text, message) - (int64_t)query->before;
    const char *cut = strstr(message, "\nLINE ");
    int size = cut != NULL ? (int)(cut - message) : (int)strlen(message);
    while (size > 0 && message[size - 1] == '\n')
        size--;
    if (place < 0 || (size_t)place + query->before > text.size)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_sql", "%.*s", size, message);
    size_t line, column;
    place_of(query, place, &line, &column);
    mrd_status status = mrd__fail(error, MRD_ERR_ARGUMENT, "bad_sql", "%.*s (line %zu, column %zu)",
                                  size, message, line, column);
    if (error != NULL) error->offset = place;
    return status;
}

/* ---- Starting ---- */

static mrd_status prepare(mrd__sql_query *query, mrd_error *error)
{
    if (query->statement != NULL) query->api->destroy_prepare(&query->statement);
    if (query->api->prepare(query->connection, query->text.data, &query->statement) ==
        DuckDBSuccess)
        return MRD_OK;
    return fail(query, error, query->api->prepare_error(query->statement));
}

static mrd_status refuse(mrd_error *error)
{
    mrd_status status = mrd__fail(error, MRD_ERR_ARGUMENT, "bad_sql",
                                  "only SELECT and EXPLAIN of a SELECT are allowed");
    if (error != NULL) error->offset = 0;
    return status;
}

/* EXPLAIN ANALYZE runs what it explains, so that must be a SELECT too. */
static mrd_status check_explained(mrd__sql_query *query, mrd_error *error)
{
    mrd__str text = {query->text.data, query->text.size};
    size_t at = mrd__sql_explained(text);
    if (at == 0) return refuse(error);
    duckdb_prepared_statement inner = NULL;
    bool good = query->api->prepare(query->connection, text.data + at, &inner) == DuckDBSuccess &&
                query->api->prepared_statement_type(inner) == DUCKDB_STATEMENT_TYPE_SELECT;
    query->api->destroy_prepare(&inner);
    query->explain = true;
    return good ? MRD_OK : refuse(error);
}

static mrd_status check(mrd__sql_query *query, mrd_error *error)
{
    MRD__TRY(prepare(query, error));
    switch (query->api->prepared_statement_type(query->statement)) {
    case DUCKDB_STATEMENT_TYPE_SELECT:
        return MRD_OK;
    case DUCKDB_STATEMENT_TYPE_EXPLAIN:
        return check_explained(query, error);
    default:
        return refuse(error);
    }
}

static mrd_status set_text(mrd__sql_query *query, mrd__str text, mrd_error *error)
{
    if (text.size > MRD__SQL_TEXT_MAX)
        return mrd__fail(error, MRD_ERR_LIMIT, "sql_too_long",
                         "the statement has %zu bytes, allowed are %zu", text.size,
                         MRD__SQL_TEXT_MAX);
    if (memchr(text.data, '\0', text.size) != NULL)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_sql", "the statement holds a zero byte");
    if (!mrd__utf8_valid(text))
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_sql", "the statement is not UTF-8");
    mrd__buf_str(&query->text, text);
    size_t includes = mrd__sql_skip_includes(text);
    for (size_t i = 0; i < includes; i++) {
        if (query->text.data[i] != '\n') query->text.data[i] = ' ';
    }
    return MRD_OK;
}

/* Columns whose types have no plain form are cast: decimals to doubles, the rest to text. */
static mrd_status cast_columns(mrd__sql_query *query, mrd_error *error)
{
    const mrd__duck_api *api = query->api;
    size_t width = api->prepared_statement_column_count(query->statement);
    bool plain = true;
    mrd__buf text = {0};
    if (width > MRD__SQL_COLUMNS_MAX)
        return mrd__fail(error, MRD_ERR_LIMIT, "sql_columns",
                         "the answer has %zu columns, allowed are %d", width, MRD__SQL_COLUMNS_MAX);
    for (size_t c = 0; c < width; c++) {
        duckdb_type type = api->prepared_statement_column_type(query->statement, c);
        mrd__buf_printf(&text, "%s", c == 0 ? "SELECT " : ", ");
        if (mrd__sql_is_plain(type)) {
            mrd__buf_printf(&text, "#%zu", c + 1);
        } else {
            plain = false;
            mrd__buf_printf(&text, "CAST(#%zu AS %s)", c + 1,
                            type == DUCKDB_TYPE_DECIMAL ? "DOUBLE" : "VARCHAR");
        }
        const char *name = api->prepared_statement_column_name(query->statement, c);
        mrd__buf_text(&text, " AS ");
        mrd__duck_quote_name(&text, mrd__str_of(name));
        api->free((void *)(uintptr_t)name);
    }
    if (plain || query->explain) {
        mrd__buf_reset(&text);
        return MRD_OK;
    }
    mrd__buf_text(&text, " FROM (");
    query->before = text.size;
    mrd__sql_strip_end(&query->text);
    mrd__buf_add(&text, query->text.data, query->text.size);
    mrd__buf_text(&text, "\n)");
    mrd__buf_reset(&query->text);
    query->text = text;
    return prepare(query, error);
}

static void read_words(mrd__sql_query *query, mrd__sql_field *field, duckdb_logical_type type)
{
    const mrd__duck_api *api = query->api;
    field->code = api->enum_internal_type(type);
    uint32_t count = api->enum_dictionary_size(type);
    for (uint32_t i = 0; i < count; i++) {
        char *word = api->enum_dictionary_value(type, i);
        mrd__str copy = {mrd__strndup(word, strlen(word)), strlen(word)};
        api->free(word);
        mrd__vec_push(&field->words, copy);
    }
}

static void describe(mrd__sql_query *query)
{
    const mrd__duck_api *api = query->api;
    query->width = api->column_count(&query->result);
    query->fields = mrd__new_array(mrd__sql_field, query->width);
    for (size_t c = 0; c < query->width; c++) {
        mrd__sql_field *field = &query->fields[c];
        const char *name = api->column_name(&query->result, c);
        field->name = (mrd__str){mrd__strndup(name, strlen(name)), strlen(name)};
        field->type = api->column_type(&query->result, c);
        if (field->type != DUCKDB_TYPE_ENUM) continue;
        duckdb_logical_type type = api->column_logical_type(&query->result, c);
        read_words(query, field, type);
        api->destroy_logical_type(&type);
    }
}

static mrd_status begin(mrd__sql_query *query, mrd_error *error)
{
    const mrd__duck_api *api = query->api;
    if (api->pending_prepared_streaming(query->statement, &query->pending) != DuckDBSuccess)
        return fail(query, error, api->pending_error(query->pending));
    duckdb_state state = api->execute_pending(query->pending, &query->result);
    query->started = true;
    if (state != DuckDBSuccess) return fail(query, error, api->result_error(&query->result));
    describe(query);
    switch (query->format) {
    case MRD__SQL_CSV:
        mrd__sql_csv_begin(query);
        return MRD_OK;
    case MRD__SQL_TABLE:
        mrd__sql_grid_begin(query);
        return MRD_OK;
    case MRD__SQL_ARROW:
        return mrd__sql_arrow_begin(query, error);
    default:
        return MRD_OK;
    }
}

static mrd_status connect(mrd__sql *sql, mrd__sql_query **out, mrd_error *error)
{
    mrd__sql_query *query = mrd__new(mrd__sql_query);
    query->sql = sql;
    query->api = sql->api;
    *out = query;
    if (sql->api->connect(sql->database, &query->connection) == DuckDBSuccess) return MRD_OK;
    return mrd__fail(error, MRD_ERR_INTERNAL, "duckdb", "DuckDB gives no connection");
}

mrd_status mrd__sql_start(mrd__sql *sql, mrd__str text, mrd__sql_format format, uint64_t time_ns,
                          mrd__sql_query **out, mrd_error *error)
{
    mrd__sql_query *query = NULL;
    mrd_status status = connect(sql, &query, error);
    query->format = format;
    if (status == MRD_OK && time_ns > 0) watch_begin(query, time_ns);
    if (status == MRD_OK) status = set_text(query, text, error);
    if (status == MRD_OK) status = check(query, error);
    if (status == MRD_OK) status = cast_columns(query, error);
    if (status == MRD_OK) status = begin(query, error);
    if (status != MRD_OK) mrd__sql_finish(&query);
    *out = query;
    return status;
}

/* ---- Fetching ---- */

static mrd_status next_rows(mrd__sql_query *query, duckdb_data_chunk chunk, mrd_error *error)
{
    const mrd__duck_api *api = query->api;
    size_t rows = api->data_chunk_get_size(chunk);
    for (size_t c = 0; c < query->width; c++) {
        duckdb_vector vector = api->data_chunk_get_vector(chunk, c);
        query->fields[c].data = api->vector_get_data(vector);
        query->fields[c].validity = api->vector_get_validity(vector);
    }
    query->rows += rows;
    switch (query->format) {
    case MRD__SQL_CSV:
        return mrd__sql_csv_rows(query, rows, error);
    case MRD__SQL_JSON:
        return mrd__sql_json_rows(query, rows, error);
    case MRD__SQL_ARROW:
        return mrd__sql_arrow_rows(query, rows, error);
    default:
        return mrd__sql_grid_rows(query, rows, error);
    }
}

static mrd_status end(mrd__sql_query *query, mrd_error *error)
{
    query->ended = true;
    const char *message = query->api->result_error(&query->result);
    if (message != NULL && *message != '\0') return fail(query, error, message);
    if (query->format == MRD__SQL_TABLE) mrd__sql_grid_end(query);
    return query->format == MRD__SQL_ARROW ? mrd__sql_arrow_end(query, error) : MRD_OK;
}

mrd_status mrd__sql_step(mrd__sql_query *query, const mrd_sink *sink, bool *more, mrd_error *error)
{
    mrd_status status = MRD_OK;
    while (status == MRD_OK && !query->ended && query->out.size < MRD__SQL_FLUSH) {
        duckdb_data_chunk chunk = query->api->fetch_chunk(query->result);
        if (chunk == NULL) {
            status = end(query, error);
        } else {
            status = next_rows(query, chunk, error);
            query->api->destroy_data_chunk(&chunk);
        }
    }
    *more = !query->ended;
    if (status == MRD_OK && query->out.size > 0) status = mrd__buf_flush(&query->out, sink, error);
    return status;
}

void mrd__sql_finish(mrd__sql_query **at)
{
    if (at == NULL || *at == NULL) return;
    mrd__sql_query *query = *at;
    const mrd__duck_api *api = query->api;
    watch_end(query);
    mrd__sql_grid_reset(query);
    mrd__sql_arrow_reset(query);
    if (query->started) api->destroy_result(&query->result);
    if (query->pending != NULL) api->destroy_pending(&query->pending);
    if (query->statement != NULL) api->destroy_prepare(&query->statement);
    if (query->connection != NULL) api->disconnect(&query->connection);
    for (size_t c = 0; c < query->width; c++) {
        mrd__sql_field *field = &query->fields[c];
        mrd__free((char *)(uintptr_t)field->name.data);
        for (size_t i = 0; i < field->words.count; i++)
            mrd__free((char *)(uintptr_t)field->words.data[i].data);
        mrd__vec_reset(&field->words);
    }
    mrd__free(query->fields);
    mrd__buf_reset(&query->text);
    mrd__buf_reset(&query->out);
    mrd__free(query);
    *at = NULL;
}

/* ---- Parquet ---- */

mrd_status mrd__sql_parquet(mrd__sql *sql, mrd__str text, int fd, mrd_error *error)
{
    mrd__sql_query *query = NULL;
    mrd__buf copy = {0};
    char name[MRD__DUCK_FD_NAME];
    mrd_status status = connect(sql, &query, error);
    if (status == MRD_OK) status = set_text(query, text, error);
    if (status == MRD_OK) status = check(query, error);
    if (status == MRD_OK && query->explain)
        status = mrd__fail(error, MRD_ERR_ARGUMENT, "bad_sql", "a plan is not written as Parquet");
    if (status == MRD_OK) {
        mrd__buf_text(&copy, "COPY (");
        query->before = copy.size;
        mrd__sql_strip_end(&query->text);
        mrd__buf_add(&copy, query->text.data, query->text.size);
        mrd__buf_printf(&copy,
                        "\n) TO '%s' (FORMAT parquet, CODEC zstd, ROW_GROUP_SIZE 65536, "
                        "USE_TMP_FILE false)",
                        mrd__duck_fd_name(fd, name));
        mrd__buf_reset(&query->text);
        query->text = copy;
        query->started = true;
        if (sql->api->query(query->connection, query->text.data, &query->result) != DuckDBSuccess)
            status = fail(query, error, sql->api->result_error(&query->result));
    }
    mrd__sql_finish(&query);
    return status;
}
