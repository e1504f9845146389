/* Rows of a query given to a callback on all of DuckDB's threads, as they are decoded: the query
 * sums mrd_take(ticket, columns...), a function that hands its arguments on and gives 0. A result
 * set would copy every row and pass it through one thread. */
#include "base/assert.h"
#include "duck/inside.h"
#include "duck/ticket.h"

#include <string.h>
#include <time.h>

#define NO_TASK_WAIT_NS 200000 /* all tasks are with other threads: look again so soon */

static const mrd__duck_api *api_of_process; /* set before any callback can run */

static mrd__duck_type type_of_vector(const mrd__duck_api *api, duckdb_vector vector)
{
    duckdb_logical_type type = api->vector_get_column_type(vector);
    mrd__duck_type ours = mrd__duck_type_of(api->get_type_id(type));
    api->destroy_logical_type(&type);
    return ours;
}

static void take(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const mrd__duck_api *api = api_of_process;
    size_t rows = api->data_chunk_get_size(input);
    size_t width = api->data_chunk_get_column_count(input);
    memset(api->vector_get_data(output), 0, rows * sizeof(int64_t));
    if (rows == 0 || width < 2 || width > MRD__DUCK_MAX_COLUMNS + 1) return;
    duckdb_vector first = api->data_chunk_get_vector(input, 0);
    const mrd__duck_taker *taker = NULL;
    if (type_of_vector(api, first) == MRD__DUCK_INT64)
        taker = mrd__ticket_owner(*(const int64_t *)api->vector_get_data(first), MRD__TICKET_TAKE);
    if (!taker) {
        api->scalar_function_set_error(info, "mrd_take is called by Meridian alone");
        return;
    }
    mrd__duck_chunk chunk = {.rows = rows};
    for (size_t i = 0; i + 1 < width; i++) {
        duckdb_vector vector = api->data_chunk_get_vector(input, i + 1);
        chunk.columns[i] = (mrd__duck_column){
            .type = type_of_vector(api, vector),
            .data = api->vector_get_data(vector),
            .validity = api->vector_get_validity(vector),
        };
    }
    taker->take(taker->ctx, &chunk);
}

bool mrd__duck_register_take(const mrd__duck_api *api, duckdb_connection connection)
{
    api_of_process = api;
    duckdb_logical_type any = api->create_logical_type(DUCKDB_TYPE_ANY);
    duckdb_logical_type number = api->create_logical_type(DUCKDB_TYPE_BIGINT);
    duckdb_scalar_function function = api->create_scalar_function();
    api->scalar_function_set_name(function, "mrd_take");
    api->scalar_function_set_varargs(function, any);
    api->scalar_function_set_return_type(function, number);
    api->scalar_function_set_special_handling(function); /* nulls come in too */
    api->scalar_function_set_volatile(function);
    api->scalar_function_set_function(function, take);
    duckdb_state state = api->register_scalar_function(connection, function);
    api->destroy_scalar_function(&function);
    api->destroy_logical_type(&any);
    api->destroy_logical_type(&number);
    return state == DuckDBSuccess;
}

/* Works on the query until it is done; false: the taker's go_on wants it to end. */
static bool work(mrd__duck *duck, duckdb_pending_result pending, const mrd__duck_taker *taker)
{
    for (;;) {
        duckdb_pending_state state = duck->api->pending_execute_task(pending);
        if (duck->api->pending_execution_is_finished(state)) return true;
        if (taker->go_on && !taker->go_on(taker->ctx)) {
            duck->api->interrupt(duck->connection);
            return false;
        }
        if (state != DUCKDB_PENDING_NO_TASKS_AVAILABLE) continue;
        struct timespec wait = {.tv_nsec = NO_TASK_WAIT_NS};
        nanosleep(&wait, NULL);
    }
}

static mrd_status run(mrd__duck *duck, const char *sql, const mrd__duck_taker *taker,
                      mrd_error *error)
{
    const mrd__duck_api *api = duck->api;
    duckdb_prepared_statement statement = NULL;
    duckdb_pending_result pending = NULL;
    duckdb_result result;
    memset(&result, 0, sizeof result);
    mrd_status status = MRD_OK;
    if (api->prepare(duck->connection, sql, &statement) != DuckDBSuccess) {
        status = mrd__duck_fail(duck, error, api->prepare_error(statement));
    } else if (api->pending_prepared(statement, &pending) != DuckDBSuccess) {
        status = mrd__duck_fail(duck, error, api->pending_error(pending));
    } else {
        bool whole = work(duck, pending, taker);
        if (api->execute_pending(pending, &result) != DuckDBSuccess)
            status = mrd__duck_fail(duck, error, api->result_error(&result));
        if (!whole) status = mrd__fail(error, MRD_ERR_CANCELLED, "cancelled", "was stopped");
        api->destroy_result(&result);
    }
    if (pending) api->destroy_pending(&pending);
    if (statement) api->destroy_prepare(&statement);
    return status;
}

mrd_status mrd__duck_scan(mrd__duck *duck, const char *columns, const char *from,
                          const mrd__duck_taker *taker, mrd_error *error)
{
    mrd__ticket ticket;
    mrd__ticket_take(&ticket, MRD__TICKET_TAKE, (void *)(uintptr_t)taker);
    mrd__buf sql = {0};
    mrd__buf_printf(&sql, "SELECT sum(mrd_take(%lld::BIGINT, %s)) FROM %s",
                    (long long)ticket.number, columns, from);
    mrd_status status = run(duck, sql.data, taker, error);
    mrd__buf_reset(&sql);
    mrd__ticket_drop(&ticket);
    return status;
}
