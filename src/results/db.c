#include "results/db.h"

#include <string.h>

void mrd__db_close(mrd__db **db)
{
    if (*db) (*db)->driver->close(*db);
    *db = NULL;
}

mrd_status mrd__db_script(mrd__db *db, const char *sql, mrd_error *error)
{
    return db->driver->script(db, sql, error);
}

mrd_status mrd__db_query(mrd__db *db, const char *sql, const mrd__db_value *values, size_t count,
                         mrd__db_rows **rows, mrd_error *error)
{
    return db->driver->query(db, sql, values, count, rows, error);
}

mrd_status mrd__db_next(mrd__db_rows *rows, bool *more, mrd_error *error)
{
    return rows->db->driver->next(rows, more, error);
}

mrd__db_value mrd__db_value_at(const mrd__db_rows *rows, int column, mrd__db_type type)
{
    return rows->db->driver->value(rows, column, type);
}

void mrd__db_end(mrd__db_rows *rows)
{
    if (rows) rows->db->driver->end(rows);
}

mrd_status mrd__db_run(mrd__db *db, const char *sql, const mrd__db_value *values, size_t count,
                       mrd_error *error)
{
    mrd__db_rows *rows = NULL;
    bool more = true;
    MRD__TRY(mrd__db_query(db, sql, values, count, &rows, error));
    mrd_status status = MRD_OK;
    while (status == MRD_OK && more)
        status = mrd__db_next(rows, &more, error);
    mrd__db_end(rows);
    return status;
}

mrd_status mrd__db_int(mrd__db *db, const char *sql, const mrd__db_value *values, size_t count,
                       int64_t *out, bool *found, mrd_error *error)
{
    mrd__db_rows *rows = NULL;
    bool more = true;
    *found = false;
    *out = 0;
    MRD__TRY(mrd__db_query(db, sql, values, count, &rows, error));
    mrd_status status = mrd__db_next(rows, &more, error);
    if (status == MRD_OK && more) {
        mrd__db_value value = mrd__db_value_at(rows, 0, MRD__DB_INT);
        *found = value.type == MRD__DB_INT;
        *out = value.integer;
    }
    /* To the end: a statement that writes is only done then. */
    while (status == MRD_OK && more)
        status = mrd__db_next(rows, &more, error);
    mrd__db_end(rows);
    return status;
}

mrd_status mrd__db_begin(mrd__db *db, mrd_error *error)
{
    return db->driver->begin(db, error);
}

mrd_status mrd__db_finish(mrd__db *db, mrd_status status, mrd_error *error)
{
    if (status == MRD_OK) status = mrd__db_script(db, "COMMIT", error);
    /* Where this fails the transaction is gone already. */
    if (status != MRD_OK && db->driver->script(db, "ROLLBACK", NULL) != MRD_OK) return status;
    return status;
}

static bool replace(const char **at, const char *word, const char *by, mrd__buf *out)
{
    size_t size = strlen(word);
    if (strncmp(*at, word, size) != 0) return false;
    mrd__buf_text(out, by);
    *at += size;
    return true;
}

void mrd__db_translate(const char *sql, const mrd__db_words *words, mrd__buf *out)
{
    int parameter = 0;
    bool quoted = false;
    while (*sql) {
        if (*sql == '\'') quoted = !quoted;
        if (!quoted && *sql == '$' &&
            (replace(&sql, "$ID", words->id, out) || replace(&sql, "$INT", words->integer, out) ||
             replace(&sql, "$REAL", words->real, out) ||
             replace(&sql, "$FILTERED", words->filtered, out) ||
             replace(&sql, "$FIRST", "NULLS FIRST", out) ||
             replace(&sql, "$LAST", "NULLS LAST", out)))
            continue;
        if (!quoted && *sql == '?' && words->numbered)
            mrd__buf_printf(out, "$%d", ++parameter);
        else
            mrd__buf_char(out, *sql);
        sql++;
    }
}
