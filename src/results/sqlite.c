/* The store in one SQLite file: WAL, so that readers and the one writer do not wait for each
 * other. */
#include "base/alloc.h"
#include "results/db.h"

#include <sqlite3.h>

#define BUSY_TIMEOUT_MS 30000 /* another process writes: wait, then say so */

typedef struct sqlite_db {
    mrd__db db;
    sqlite3 *handle;
} sqlite_db;

typedef struct sqlite_rows {
    mrd__db_rows rows;
    sqlite3_stmt *statement;
} sqlite_rows;

static const mrd__db_words words = {"INTEGER PRIMARY KEY AUTOINCREMENT", "INTEGER", "REAL",
                                    "INDEXED BY results_filter", false};

static sqlite3 *handle_of(mrd__db *db)
{
    return ((sqlite_db *)db)->handle;
}

static mrd_status fail(sqlite3 *handle, const char *what, mrd_error *error)
{
    int code = sqlite3_errcode(handle), whole = sqlite3_extended_errcode(handle);
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return mrd__fail(error, MRD_ERR_STATE, "busy", "result store: %s: %s", what,
                         sqlite3_errmsg(handle));
    if (whole == SQLITE_CONSTRAINT_UNIQUE || whole == SQLITE_CONSTRAINT_PRIMARYKEY)
        return mrd__fail(error, MRD_ERR_STATE, "exists", "result store: %s",
                         sqlite3_errmsg(handle));
    return mrd__fail(error, MRD_ERR_IO, "bad_store", "result store: %s: %s", what,
                     sqlite3_errmsg(handle));
}

static mrd_status script(mrd__db *db, const char *sql, mrd_error *error)
{
    mrd__buf own = {0};
    mrd__db_translate(sql, &words, &own);
    int code = sqlite3_exec(handle_of(db), own.data, NULL, NULL, NULL);
    mrd__buf_reset(&own);
    return code == SQLITE_OK ? MRD_OK : fail(handle_of(db), "cannot run", error);
}

static void bind(sqlite3_stmt *statement, int index, const mrd__db_value *value)
{
    switch (value->type) {
    case MRD__DB_NULL:
        sqlite3_bind_null(statement, index);
        break;
    case MRD__DB_INT:
        sqlite3_bind_int64(statement, index, value->integer);
        break;
    case MRD__DB_REAL:
        sqlite3_bind_double(statement, index, value->real);
        break;
    case MRD__DB_TEXT:
        sqlite3_bind_text64(statement, index, value->text.data ? value->text.data : "",
                            value->text.size, SQLITE_TRANSIENT, SQLITE_UTF8);
        break;
    }
}

static mrd_status query(mrd__db *db, const char *sql, const mrd__db_value *values, size_t count,
                        mrd__db_rows **out, mrd_error *error)
{
    sqlite3_stmt *statement = NULL;
    mrd__buf own = {0};
    mrd__db_translate(sql, &words, &own);
    int code = sqlite3_prepare_v2(handle_of(db), own.data, -1, &statement, NULL);
    mrd__buf_reset(&own);
    if (code != SQLITE_OK) return fail(handle_of(db), "cannot prepare", error);
    for (size_t i = 0; i < count; i++)
        bind(statement, (int)i + 1, &values[i]);
    sqlite_rows *rows = mrd__new(sqlite_rows);
    *rows = (sqlite_rows){{db}, statement};
    *out = &rows->rows;
    return MRD_OK;
}

static mrd_status next(mrd__db_rows *handle, bool *more, mrd_error *error)
{
    sqlite_rows *rows = (sqlite_rows *)handle;
    int code = sqlite3_step(rows->statement);
    *more = code == SQLITE_ROW;
    if (code == SQLITE_ROW || code == SQLITE_DONE) return MRD_OK;
    return fail(handle_of(rows->rows.db), "cannot run", error);
}

static mrd__db_value value(const mrd__db_rows *handle, int column, mrd__db_type type)
{
    sqlite3_stmt *statement = ((const sqlite_rows *)handle)->statement;
    mrd__db_value value = {.type = type};
    if (sqlite3_column_type(statement, column) == SQLITE_NULL) return MRD__DB_OF_NULL;
    if (type == MRD__DB_INT) value.integer = sqlite3_column_int64(statement, column);
    if (type == MRD__DB_REAL) value.real = sqlite3_column_double(statement, column);
    if (type == MRD__DB_TEXT) {
        value.text.data = (const char *)sqlite3_column_text(statement, column);
        value.text.size = (size_t)sqlite3_column_bytes(statement, column);
    }
    return value;
}

static void end(mrd__db_rows *handle)
{
    sqlite_rows *rows = (sqlite_rows *)handle;
    sqlite3_finalize(rows->statement);
    mrd__free(rows);
}

/* Pages that lists read stay, and a page of 1,000 rows is sorted in memory (KiB). */
#define CACHE "PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY;"

static mrd_status begin(mrd__db *db, mrd_error *error)
{
    return script(db, "BEGIN IMMEDIATE", error);
}

static mrd_status version(mrd__db *db, int *out, mrd_error *error)
{
    int64_t number;
    bool found;
    MRD__TRY(mrd__db_int(db, "PRAGMA user_version", NULL, 0, &number, &found, error));
    *out = (int)number;
    return MRD_OK;
}

static mrd_status set_version(mrd__db *db, int number, mrd_error *error)
{
    mrd__buf sql = {0};
    mrd__buf_printf(&sql, "PRAGMA user_version = %d", number);
    mrd_status status = script(db, sql.data, error);
    mrd__buf_reset(&sql);
    return status;
}

static void close_db(mrd__db *db)
{
    sqlite3_close(handle_of(db));
    mrd__free(db);
}

static const mrd__db_driver driver = {close_db, script, query,   next,       value,
                                      end,      begin,  version, set_version};

mrd_status mrd__db_open_sqlite(const char *path, mrd__db **out, mrd_error *error)
{
    sqlite_db *db = mrd__new(sqlite_db);
    db->db.driver = &driver;
    int code =
        sqlite3_open_v2(path, &db->handle,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, NULL);
    mrd_status status = code == SQLITE_OK ? MRD_OK : fail(db->handle, "cannot open", error);
    if (status == MRD_OK) {
        sqlite3_busy_timeout(db->handle, BUSY_TIMEOUT_MS);
        status = script(&db->db,
                        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                        "PRAGMA foreign_keys=ON; PRAGMA case_sensitive_like=OFF;" CACHE,
                        error);
    }
    if (status != MRD_OK) {
        status = mrd__fail_at(error, status, path, -1);
        close_db(&db->db);
        return status;
    }
    *out = &db->db;
    return MRD_OK;
}
