/* SQL over a sealed store: DuckDB with table functions that copy columns in chunks (spec merge.md
 * section 5). Tables and columns: docs/sql.md. Shows no foreign type. */
#ifndef MRD_SQL_SQL_H
#define MRD_SQL_SQL_H

#include "model/store.h"
#include "sql/limits.h"

/* A database over one store, which must outlive it. */
typedef struct mrd__sql mrd__sql;

typedef struct mrd__sql_config {
    uint32_t threads; /* of DuckDB's own, 0 one per core */
    bool files;       /* FROM 'file.parquet' is allowed; never on a server */
} mrd__sql_config;

/* Loads the library at the first call of the process (about 15 ms), opens a database in memory
 * (10 ms), and makes the dictionaries of names. MRD_ERR_UNSUPPORTED "no_duckdb" where there is no
 * library. Any number of threads may then start statements. */
MRD_MUST_CHECK mrd_status mrd__sql_open(const mrd__store *store, const mrd__sql_config *config,
                                        mrd__sql **out, mrd_error *error);
/* No statement may be running. Accepts NULL and *sql == NULL. */
void mrd__sql_close(mrd__sql **sql);

/* Forms of an answer. */
typedef enum mrd__sql_format {
    MRD__SQL_CSV,
    MRD__SQL_JSON,    /* one object a line */
    MRD__SQL_ARROW,   /* IPC stream */
    MRD__SQL_TABLE,   /* aligned text for people */
    MRD__SQL_PARQUET, /* needs files */
} mrd__sql_format;

typedef struct mrd__sql_query mrd__sql_query;

/* Start one statement, SELECT or EXPLAIN; what is in front of it (comments, INCLUDE PERFETTO
 * MODULE) is skipped. time_ns: it is stopped after so long, 0 never. MRD_ERR_ARGUMENT "bad_sql"
 * with error->offset the byte in text where it is known; MRD_ERR_LIMIT "sql_time" and
 * "sql_memory"; these come from the other calls too. */
MRD_MUST_CHECK mrd_status mrd__sql_start(mrd__sql *sql, mrd__str text, mrd__sql_format format,
                                         uint64_t time_ns, mrd__sql_query **out, mrd_error *error);
/* Write a piece of the answer (some 64 KiB); *more is false after the last one. A failure of the
 * sink stops the statement. One thread at a time. */
MRD_MUST_CHECK mrd_status mrd__sql_step(mrd__sql_query *query, const mrd_sink *sink, bool *more,
                                        mrd_error *error);
/* Stops what still runs. Accepts NULL and *query == NULL. */
void mrd__sql_finish(mrd__sql_query **query);

/* The whole answer to an open, empty file as Parquet: zstd, row groups of 65,536 rows. The
 * database must have been opened with files. */
MRD_MUST_CHECK mrd_status mrd__sql_parquet(mrd__sql *sql, mrd__str text, int fd, mrd_error *error);

#endif
