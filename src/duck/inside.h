/* What the files of src/duck share. */
#ifndef MRD_DUCK_INSIDE_H
#define MRD_DUCK_INSIDE_H

#include "duck/api.h"
#include "duck/duck.h"

struct mrd__duck {
    const mrd__duck_api *api;
    duckdb_connection connection;
};

/* Give a fresh database the table function that written rows come from (parquet.c). */
bool mrd__duck_register_rows(const mrd__duck_api *api, duckdb_connection connection);

#endif
