/* What the files of src/duck share. */
#ifndef MRD_DUCK_INSIDE_H
#define MRD_DUCK_INSIDE_H

#include "duck/api.h"
#include "duck/duck.h"

struct mrd__duck {
    const mrd__duck_api *api;
    duckdb_connection connection;
    duckdb_database database; /* the process's when it was opened */
};

mrd__duck_type mrd__duck_type_of(duckdb_type type);
/* MRD_ERR_INTERNAL "duckdb". An error after which DuckDB refuses all further work (a broken
 * invariant, met on a damaged file) takes the database off the shelf: the next connection gets a
 * new one. */
mrd_status mrd__duck_fail(mrd__duck *duck, mrd_error *error, const char *message);

/* Give a fresh database the table function that written rows come from (parquet.c). */
bool mrd__duck_register_rows(const mrd__duck_api *api, duckdb_connection connection);

/* And the function that scanned rows go through (scan.c). */
bool mrd__duck_register_take(const mrd__duck_api *api, duckdb_connection connection);

#endif
