/* A trace handle from inside. */
#ifndef MRD_API_TRACE_H
#define MRD_API_TRACE_H

#include "model/store.h"

/* What makes a folder a table folder. */
#define MRD_TABLES_FILE "meridian-tables.json"

/* Databases over a store, opened by the first statement: sql.c. */
struct mrd__trace_sql;
struct mrd__trace_sql *mrd__trace_sql_create(void);
void mrd__trace_sql_destroy(struct mrd__trace_sql **sql);

struct mrd_trace {
    mrd__store *store;
    mrd__buf cache_key; /* of its inputs before they were read; empty: cannot be cached */
    struct mrd__trace_sql *sql;
};

#endif
