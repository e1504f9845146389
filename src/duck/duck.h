/* DuckDB as a reader and writer of Parquet and of SQL of our own: connections, streamed results,
 * rows out of a callback into a Parquet file. Shows no foreign type.
 *
 * File names never stand in SQL: files are opened here and named to DuckDB by their descriptor
 * (mrd__duck_fd_name), so that no name is taken for a pattern, an address or SQL. */
#ifndef MRD_DUCK_DUCK_H
#define MRD_DUCK_DUCK_H

#include "base/text.h"

#define MRD__DUCK_MAX_COLUMNS 32 /* of a result or a source; our own queries have few */
#define MRD__DUCK_BATCH 2048     /* rows of one chunk, DuckDB's vector size */

/* What of DuckDB's types our readers tell apart. */
typedef enum mrd__duck_type {
    MRD__DUCK_OTHER,
    MRD__DUCK_BOOL,   /* data: bool */
    MRD__DUCK_INT32,  /* int32_t */
    MRD__DUCK_INT64,  /* int64_t */
    MRD__DUCK_UINT64, /* uint64_t */
    MRD__DUCK_FLOAT,  /* float */
    MRD__DUCK_DOUBLE, /* double */
    MRD__DUCK_TEXT,   /* mrd__duck_text; valid UTF-8 */
    MRD__DUCK_BLOB,   /* mrd__duck_text; any bytes */
} mrd__duck_type;

/* DuckDB's own layout of a string: up to 12 bytes inside, else a pointer. */
typedef struct mrd__duck_string {
    uint32_t size;
    char inlined[4];
    union {
        char more[8];
        const char *data;
    };
} mrd__duck_string;

/* One column of a chunk, borrowed until the next chunk. */
typedef struct mrd__duck_column {
    mrd__duck_type type;
    const void *data;
    const uint64_t *validity; /* a bit a row, 1 valid; NULL: no nulls */
} mrd__duck_column;

typedef struct mrd__duck_chunk {
    size_t rows; /* 0: the end */
    mrd__duck_column columns[MRD__DUCK_MAX_COLUMNS];
} mrd__duck_chunk;

static inline bool mrd__duck_valid(const mrd__duck_column *column, size_t row)
{
    return !column->validity || (column->validity[row >> 6] >> (row & 63) & 1);
}
/* Text of a valid row of a TEXT or BLOB column; borrowed until the next chunk. */
static inline mrd__str mrd__duck_text(const mrd__duck_column *column, size_t row)
{
    const mrd__duck_string *text = (const mrd__duck_string *)column->data + row;
    return (mrd__str){text->size <= 12 ? text->inlined : text->data, text->size};
}

/* ---- Connections and statements ---- */

typedef struct mrd__duck mrd__duck;
typedef struct mrd__duck_rows mrd__duck_rows;

/* A connection to the process's database in memory; the library is loaded by the first one. Used
 * by one thread at a time. threads: of DuckDB's own, shared by all connections, 0 one per core.
 * MRD_ERR_UNSUPPORTED "no_duckdb" where the library is not found. */
MRD_MUST_CHECK mrd_status mrd__duck_open(mrd__duck **out, uint32_t threads, mrd_error *error);
void mrd__duck_close(mrd__duck **duck); /* accepts NULL and *duck == NULL */
/* Load the library, open the database and read a small file of its own ahead of time (100 ms). Any
 * thread; without the library nothing happens. */
void mrd__duck_warm(void);

/* Run SQL of our own without an answer. MRD_ERR_INTERNAL "duckdb" with DuckDB's message. */
MRD_MUST_CHECK mrd_status mrd__duck_run(mrd__duck *duck, const char *sql, mrd_error *error);

/* Start a statement with text parameters ($1 is params[0]); its chunks are made while they are
 * fetched. One at a time for each connection. Errors as mrd__duck_run. */
MRD_MUST_CHECK mrd_status mrd__duck_query(mrd__duck *duck, const char *sql, const mrd__str *params,
                                          size_t param_count, mrd__duck_rows **out,
                                          mrd_error *error);
size_t mrd__duck_rows_width(const mrd__duck_rows *rows);
const char *mrd__duck_rows_name(const mrd__duck_rows *rows, size_t column); /* borrowed */
mrd__duck_type mrd__duck_rows_type(const mrd__duck_rows *rows, size_t column);
/* The next chunk; *chunk is borrowed until the next call. */
MRD_MUST_CHECK mrd_status mrd__duck_rows_next(mrd__duck_rows *rows, mrd__duck_chunk *chunk,
                                              mrd_error *error);
void mrd__duck_rows_close(mrd__duck_rows **rows); /* accepts NULL and *rows == NULL */

/* Who takes the rows of a scan. */
typedef struct mrd__duck_taker {
    void *ctx;
    /* Chunks of at most MRD__DUCK_BATCH rows, in any order, several at a time on any threads. */
    void (*take)(void *ctx, const mrd__duck_chunk *chunk);
    /* Asked now and then on the calling thread; false ends the scan. May be NULL. */
    bool (*go_on)(void *ctx);
} mrd__duck_taker;

/* Give all rows of `SELECT columns FROM from` (SQL of our own) to the taker, decoded on all of
 * DuckDB's threads and never collected. MRD_ERR_CANCELLED when go_on ended it; rows may have been
 * taken before any failure. */
MRD_MUST_CHECK mrd_status mrd__duck_scan(mrd__duck *duck, const char *columns, const char *from,
                                         const mrd__duck_taker *taker, mrd_error *error);

/* ---- Names and literals in SQL ---- */

#define MRD__DUCK_FD_NAME 32
/* "/dev/fd/N", as DuckDB may be given it. Returns out. */
const char *mrd__duck_fd_name(int fd, char out[MRD__DUCK_FD_NAME]);
/* 'text' with quotes doubled; a NUL ends the text. */
void mrd__duck_quote(mrd__buf *out, mrd__str text);
/* "name" with quotes doubled. */
void mrd__duck_quote_name(mrd__buf *out, mrd__str name);

/* ---- Parquet ---- */

typedef struct mrd__duck_kv {
    const char *key;
    mrd__str value;
} mrd__duck_kv;

/* Walks the counts and lengths in the footer of the Parquet file fd, which DuckDB believes before
 * it reads on. bad_trace where they leave the footer, footer_too_long past 64 MiB; a file without a
 * readable footer is left to DuckDB's own words. mrd__duck_parquet_kv does it; call it before any
 * other question to a file. Any thread. */
MRD_MUST_CHECK mrd_status mrd__duck_check_footer(int fd, mrd_error *error);

/* Each key-value pair of the file's metadata in file order; key and value borrowed for the call.
 * A status other than MRD_OK ends the walk. */
typedef mrd_status (*mrd__duck_kv_fn)(void *ctx, mrd__str key, mrd__str value, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__duck_parquet_kv(mrd__duck *duck, int fd, mrd__duck_kv_fn fn,
                                               void *ctx, mrd_error *error);

/* One column to fill. */
typedef struct mrd__duck_out {
    void *data;   /* fixed width values */
    void *vector; /* DuckDB's handle */
    const void *api;
} mrd__duck_out;

/* Where the rows of a written file come from. */
typedef struct mrd__duck_source {
    size_t width;
    const char *const *names;
    const mrd__duck_type *types; /* BOOL, INT32, INT64, DOUBLE, TEXT */
    /* Fill at most MRD__DUCK_BATCH rows; 0 is the end. Called from one thread at a time, which
     * need not be the caller's. A status other than MRD_OK stops the writing. */
    mrd_status (*next)(void *ctx, mrd__duck_out *columns, size_t *rows, mrd_error *error);
    void *ctx;
} mrd__duck_source;

void mrd__duck_out_text(mrd__duck_out *out, size_t row, mrd__str text); /* copied */
/* The text must stay until the file is written. */
void mrd__duck_out_borrowed(mrd__duck_out *out, size_t row, mrd__str text);
void mrd__duck_out_null(mrd__duck_out *out, size_t row);

/* Write all rows of the source to the open, empty file fd as Parquet: zstd, row groups of 65,536
 * rows, key-value metadata. The source's own error comes back as it was. */
MRD_MUST_CHECK mrd_status mrd__duck_write_parquet(mrd__duck *duck, int fd,
                                                  const mrd__duck_source *source,
                                                  const mrd__duck_kv *kv, size_t kv_count,
                                                  mrd_error *error);

#endif
