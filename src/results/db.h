/* The one interface to SQLite and PostgreSQL. One connection, one statement at a time: the caller
 * holds mrd__results.mutex.
 *
 * SQL is written once, in what both understand, with `?` for parameters. What differs stands in
 * the text as a word that the driver replaces: $ID (an integer primary key that counts), $INT,
 * $REAL, $FIRST and $LAST (where NULLs sort; SQLite's order on both), $FILTERED (SQLite shall use
 * the index results_filter). */
#ifndef MRD_RESULTS_DB_H
#define MRD_RESULTS_DB_H

#include "base/error.h"
#include "base/text.h"

typedef struct mrd__db mrd__db;

typedef enum mrd__db_type {
    MRD__DB_NULL,
    MRD__DB_INT,
    MRD__DB_REAL,
    MRD__DB_TEXT
} mrd__db_type;

/* A parameter; text is borrowed for the call. */
typedef struct mrd__db_value {
    mrd__db_type type;
    int64_t integer;
    double real;
    mrd__str text;
} mrd__db_value;

#define MRD__DB_OF_NULL ((mrd__db_value){.type = MRD__DB_NULL})
#define MRD__DB_OF_INT(value) ((mrd__db_value){.type = MRD__DB_INT, .integer = (value)})
#define MRD__DB_OF_REAL(value) ((mrd__db_value){.type = MRD__DB_REAL, .real = (value)})
#define MRD__DB_OF_TEXT(value) ((mrd__db_value){.type = MRD__DB_TEXT, .text = (value)})

/* The rows of a statement, one at a time; the drivers' own begin with this. */
typedef struct mrd__db_rows {
    mrd__db *db;
} mrd__db_rows;

/* What a driver does. Errors: bad_store; busy (another process holds the store); exists (a unique
 * name is taken). */
typedef struct mrd__db_driver {
    void (*close)(mrd__db *db);
    mrd_status (*script)(mrd__db *db, const char *sql, mrd_error *error);
    mrd_status (*query)(mrd__db *db, const char *sql, const mrd__db_value *values, size_t count,
                        mrd__db_rows **rows, mrd_error *error);
    mrd_status (*next)(mrd__db_rows *rows, bool *more, mrd_error *error);
    mrd__db_value (*value)(const mrd__db_rows *rows, int column, mrd__db_type type);
    void (*end)(mrd__db_rows *rows);
    mrd_status (*begin)(mrd__db *db, mrd_error *error);
    mrd_status (*version)(mrd__db *db, int *version, mrd_error *error);
    mrd_status (*set_version)(mrd__db *db, int version, mrd_error *error);
} mrd__db_driver;

struct mrd__db {
    const mrd__db_driver *driver;
};

/* path: an SQLite file, made where absent. */
MRD_MUST_CHECK mrd_status mrd__db_open_sqlite(const char *path, mrd__db **out, mrd_error *error);
/* url: postgresql://… as libpq reads it. */
MRD_MUST_CHECK mrd_status mrd__db_open_postgres(const char *url, mrd__db **out, mrd_error *error);
void mrd__db_close(mrd__db **db); /* accepts NULL */

/* Statements without parameters and rows, separated by `;`. */
MRD_MUST_CHECK mrd_status mrd__db_script(mrd__db *db, const char *sql, mrd_error *error);
/* Run a statement and drop its rows. */
MRD_MUST_CHECK mrd_status mrd__db_run(mrd__db *db, const char *sql, const mrd__db_value *values,
                                      size_t count, mrd_error *error);
/* Run a statement that gives rows; end them in any case where it succeeds. */
MRD_MUST_CHECK mrd_status mrd__db_query(mrd__db *db, const char *sql, const mrd__db_value *values,
                                        size_t count, mrd__db_rows **rows, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__db_next(mrd__db_rows *rows, bool *more, mrd_error *error);
/* A column of the row at hand as `type`, or of type MRD__DB_NULL; text lives until the next row. */
mrd__db_value mrd__db_value_at(const mrd__db_rows *rows, int column, mrd__db_type type);
void mrd__db_end(mrd__db_rows *rows); /* accepts NULL */
/* The first column of the first row as a whole number; *found false: no row, or null. */
MRD_MUST_CHECK mrd_status mrd__db_int(mrd__db *db, const char *sql, const mrd__db_value *values,
                                      size_t count, int64_t *out, bool *found, mrd_error *error);

/* A transaction that writes: one at a time over all processes, on both engines. */
MRD_MUST_CHECK mrd_status mrd__db_begin(mrd__db *db, mrd_error *error);
/* COMMIT where status is MRD_OK, else ROLLBACK; returns the first failure. */
MRD_MUST_CHECK mrd_status mrd__db_finish(mrd__db *db, mrd_status status, mrd_error *error);

/* For the drivers: sql with its words replaced by these. */
typedef struct mrd__db_words {
    const char *id, *integer, *real, *filtered;
    bool numbered; /* parameters are $1, $2 in place of ? */
} mrd__db_words;
void mrd__db_translate(const char *sql, const mrd__db_words *words, mrd__buf *out);

#endif
