/* The functions of libduckdb that we call, looked up at run time. For src/duck and src/sql alone:
 * everybody else uses duck/duck.h, which shows no foreign type. */
#ifndef MRD_DUCK_API_H
#define MRD_DUCK_API_H

#include "base/error.h"

#include <duckdb.h>

/* A function joins by a line here. All must be in the library, or it is refused as too old. */
#define MRD__DUCK_FUNCTIONS(X)                                                                     \
    X(library_version)                                                                             \
    X(create_config)                                                                               \
    X(set_config)                                                                                  \
    X(destroy_config)                                                                              \
    X(open_ext)                                                                                    \
    X(close)                                                                                       \
    X(connect)                                                                                     \
    X(disconnect)                                                                                  \
    X(interrupt)                                                                                   \
    X(free)                                                                                        \
    X(query)                                                                                       \
    X(destroy_result)                                                                              \
    X(result_error)                                                                                \
    X(column_count)                                                                                \
    X(column_name)                                                                                 \
    X(column_type)                                                                                 \
    X(fetch_chunk)                                                                                 \
    X(prepare)                                                                                     \
    X(prepare_error)                                                                               \
    X(destroy_prepare)                                                                             \
    X(bind_varchar_length)                                                                         \
    X(pending_prepared_streaming)                                                                  \
    X(pending_error)                                                                               \
    X(execute_pending)                                                                             \
    X(destroy_pending)                                                                             \
    X(data_chunk_get_size)                                                                         \
    X(data_chunk_set_size)                                                                         \
    X(data_chunk_get_vector)                                                                       \
    X(data_chunk_get_column_count)                                                                 \
    X(destroy_data_chunk)                                                                          \
    X(vector_get_data)                                                                             \
    X(vector_get_validity)                                                                         \
    X(vector_ensure_validity_writable)                                                             \
    X(vector_assign_string_element_len)                                                            \
    X(vector_size)                                                                                 \
    X(create_logical_type)                                                                         \
    X(destroy_logical_type)                                                                        \
    X(create_table_function)                                                                       \
    X(destroy_table_function)                                                                      \
    X(table_function_set_name)                                                                     \
    X(table_function_set_bind)                                                                     \
    X(table_function_set_init)                                                                     \
    X(table_function_set_function)                                                                 \
    X(register_table_function)                                                                     \
    X(bind_add_result_column)                                                                      \
    X(create_scalar_function)                                                                      \
    X(destroy_scalar_function)                                                                     \
    X(scalar_function_set_name)                                                                    \
    X(scalar_function_set_varargs)                                                                 \
    X(scalar_function_set_special_handling)                                                        \
    X(scalar_function_set_volatile)                                                                \
    X(scalar_function_set_return_type)                                                             \
    X(scalar_function_set_function)                                                                \
    X(scalar_function_set_error)                                                                   \
    X(register_scalar_function)                                                                    \
    X(vector_get_column_type)                                                                      \
    X(get_type_id)                                                                                 \
    X(pending_prepared)                                                                            \
    X(pending_execute_task)                                                                        \
    X(pending_execution_is_finished)                                                               \
    X(table_function_add_parameter)                                                                \
    X(bind_get_parameter)                                                                          \
    X(bind_set_bind_data)                                                                          \
    X(bind_set_error)                                                                              \
    X(function_get_bind_data)                                                                      \
    X(get_int64)                                                                                   \
    X(destroy_value)                                                                               \
    X(init_set_max_threads)                                                                        \
    X(function_set_error)                                                                          \
    X(bind_get_named_parameter)                                                                    \
    X(bind_get_extra_info)                                                                         \
    X(bind_set_cardinality)                                                                        \
    X(init_get_bind_data)                                                                          \
    X(init_set_init_data)                                                                          \
    X(init_get_extra_info)                                                                         \
    X(init_get_column_count)                                                                       \
    X(init_get_column_index)                                                                       \
    X(function_get_extra_info)                                                                     \
    X(function_get_init_data)                                                                      \
    X(function_get_local_init_data)                                                                \
    X(table_function_set_extra_info)                                                               \
    X(table_function_set_local_init)                                                               \
    X(table_function_add_named_parameter)                                                          \
    X(table_function_supports_projection_pushdown)                                                 \
    X(is_null_value)                                                                               \
    X(create_enum_type)                                                                            \
    X(enum_internal_type)                                                                          \
    X(enum_dictionary_size)                                                                        \
    X(enum_dictionary_value)                                                                       \
    X(column_logical_type)                                                                         \
    X(prepared_statement_column_count)                                                             \
    X(prepared_statement_column_name)                                                              \
    X(prepared_statement_column_type)                                                              \
    X(prepared_statement_type)                                                                     \
    X(scalar_function_add_parameter)                                                               \
    X(scalar_function_set_extra_info)                                                              \
    X(scalar_function_get_extra_info)

typedef struct mrd__duck_api {
#define MRD__DUCK_MEMBER(name) __typeof__(&duckdb_##name) name;
    MRD__DUCK_FUNCTIONS(MRD__DUCK_MEMBER)
#undef MRD__DUCK_MEMBER
} mrd__duck_api;

/* The table; opens the library at the first call of the process (about 15 ms) and keeps it. Asked
 * in this order: the file MRD_DUCKDB_LIB names (nothing else is tried where it is set), the place
 * the build found, the program's own folder and ../lib/meridian beside it, the system's. NULL with
 * MRD_ERR_UNSUPPORTED "no_duckdb" that lists the places. Thread-safe. */
const mrd__duck_api *mrd__duck_api_get(mrd_error *error);

/* Settings that every database of ours has: no extension is fetched or loaded by itself, nothing is
 * written to the working folder, no file stays cached. Destroy with api->destroy_config. */
duckdb_config mrd__duck_config(const mrd__duck_api *api);

/* The process's database in memory, opened at the first call (about 10 ms). Thread-safe. */
MRD_MUST_CHECK mrd_status mrd__duck_database(duckdb_database *out, mrd_error *error);
/* Let the next mrd__duck_database open a new one in place of this, which does no more work.
 * Thread-safe; the connections of the old one may still be closed. */
void mrd__duck_database_drop(duckdb_database broken);

#endif
