/* One template for all tables: a table says where its rows are (pieces of a row space) and fills
 * columns of a piece; or, when small, gives single cells. Which columns are wanted is known before
 * anything is filled (projection pushdown); which rows, where the table is ranged. */
#ifndef MRD_SQL_TABLE_H
#define MRD_SQL_TABLE_H

#include "sql/inside.h"

typedef enum mrd__sql_type {
    MRD__SQL_INT,  /* BIGINT */
    MRD__SQL_REAL, /* DOUBLE */
    MRD__SQL_TEXT, /* VARCHAR */
    MRD__SQL_BOOL,
    MRD__SQL_NAME,     /* dictionary sql->names */
    MRD__SQL_CATEGORY, /* dictionary sql->categories */
} mrd__sql_type;

typedef struct mrd__sql_column {
    const char *name;
    mrd__sql_type type;
} mrd__sql_column;

/* Rows [first, end) of one kind; row is the row of model/rows.h or the event key they lie in. */
typedef struct mrd__sql_piece {
    uint32_t kind, row;
    uint64_t first, end;
} mrd__sql_piece;
typedef MRD__VEC(mrd__sql_piece) mrd__sql_pieces;

/* Arguments of a ranged table; absolute ns. */
typedef struct mrd__sql_range {
    bool has_start, has_end, has_track;
    int64_t start_ns, end_ns, track;
} mrd__sql_range;

/* A column being filled, rows from `at` on. */
typedef struct mrd__sql_out {
    const mrd__duck_api *api;
    duckdb_vector vector;
    void *data;
    size_t at;
} mrd__sql_out;

void mrd__sql_put_null(mrd__sql_out *out, size_t i);
static inline void mrd__sql_put_int(mrd__sql_out *out, size_t i, int64_t value)
{
    ((int64_t *)out->data)[out->at + i] = value;
}
static inline void mrd__sql_put_real(mrd__sql_out *out, size_t i, double value)
{
    ((double *)out->data)[out->at + i] = value;
}
static inline void mrd__sql_put_bool(mrd__sql_out *out, size_t i, bool value)
{
    ((bool *)out->data)[out->at + i] = value;
}
void mrd__sql_put_text(mrd__sql_out *out, size_t i, mrd__str text); /* the store's, borrowed */
void mrd__sql_put_copy(mrd__sql_out *out, size_t i, mrd__str text);
/* A string id of the store; 0 is NULL. */
void mrd__sql_put_string(mrd__sql_out *out, size_t i, const mrd__store *store, mrd__str_id id);
void mrd__sql_put_index(mrd__sql_out *out, size_t i, uint32_t index); /* MRD__NONE is NULL */
/* Whole numbers as they are; other ids are NULL. */
void mrd__sql_put_ident(mrd__sql_out *out, size_t i, mrd__ident ident);

/* Columns of dictionary codes. */
void mrd__sql_put_words(mrd__sql_out *out, const mrd__store *store, const mrd__sql_words *words,
                        const mrd__str_id *ids, size_t rows);
void mrd__sql_put_category(mrd__sql_out *out, const mrd__sql *sql, const mrd__sql_words *words,
                           uint8_t category, size_t rows);

void mrd__sql_put_nulls(mrd__sql_out *out, size_t rows);
void mrd__sql_put_number(mrd__sql_out *out, size_t rows, int64_t value);
/* Tracks of the samples from first on: tracks are not empty and sorted by their first sample. */
void mrd__sql_put_tracks(mrd__sql_out *out, const mrd__store *store, const uint32_t *tracks,
                         size_t track_count, uint64_t first, size_t rows);

/* ---- Pieces ---- */

/* Nothing where it is empty. */
void mrd__sql_add_piece(mrd__sql_pieces *out, uint32_t kind, uint32_t row, uint64_t first,
                        uint64_t end);
/* What of the points [first, end), sorted by time, lies in the range. */
void mrd__sql_add_points(mrd__sql_pieces *out, uint32_t kind, uint32_t row, const double *times,
                         uint64_t first, uint64_t end, int64_t origin, const mrd__sql_range *range);
/* Relative time of an absolute one; far from the origin the nearest double. */
static inline double mrd__sql_relative(int64_t origin, int64_t absolute)
{
    return (double)((__int128)absolute - origin);
}

/* ---- Tables ---- */

typedef struct mrd__sql_table {
    const char *name;
    const mrd__sql_column *columns;
    size_t width;
    /* Small tables: number of rows, one cell. */
    uint64_t (*count)(const mrd__sql *sql);
    void (*cell)(const mrd__sql *sql, uint64_t row, unsigned column, mrd__sql_out *out, size_t i);
    /* Large ones; range is all false where the table was asked for whole. */
    bool ranged;
    void (*pieces)(const mrd__sql *sql, const mrd__sql_range *range, mrd__sql_pieces *out);
    void (*fill)(const mrd__sql *sql, const mrd__sql_piece *piece, unsigned column, size_t rows,
                 mrd__sql_out *out);
} mrd__sql_table;

extern const mrd__sql_table mrd__sql_slice, mrd__sql_instant, mrd__sql_counter, mrd__sql_event;
/* The small ones, ended by a NULL name. */
extern const mrd__sql_table mrd__sql_small_tables[], mrd__sql_loss_tables[],
    mrd__sql_clock_tables[];

/* Register a table function; sql must stay. */
bool mrd__sql_add_table(mrd__sql *sql, duckdb_connection connection, const mrd__sql_table *table);
/* `args` and the scalar function mrd_arg: args.c. */
bool mrd__sql_add_args(mrd__sql *sql, duckdb_connection connection);
extern const mrd__sql_column mrd__sql_args_columns[];
extern const size_t mrd__sql_args_width;

/* Exact time of a relative double; whole ones without a call. */
static inline int64_t mrd__sql_time(int64_t origin, double relative)
{
    int64_t whole = (int64_t)relative;
    if ((double)whole != relative) whole = (int64_t)__builtin_round(relative);
    return (int64_t)((uint64_t)origin + (uint64_t)whole);
}
/* Ids of `slice`; above them come the arg sets of the import log. */
static inline uint64_t mrd__sql_total(const mrd__sql *sql)
{
    return sql->first_event_instant + (sql->events ? sql->events->count : 0);
}
/* The same for a time of event records, which may be any double. */
static inline int64_t mrd__sql_event_time(double time)
{
    if (time >= 0x1p63) return INT64_MAX;
    if (!(time >= -0x1p63)) return INT64_MIN;
    return mrd__sql_time(0, time);
}

#endif
