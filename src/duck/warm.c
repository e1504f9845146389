/* Getting ready for the first file. DuckDB's code comes from its library page by page and its
 * symbols are bound one by one, each at its first use: a query that does what reading a trace will
 * do, over a small file in memory, has both done while nobody waits. */
#include "base/os.h"
#include "duck/inside.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WARM_ROWS ((size_t)80 << 10) /* more than one row group: decoded side by side */

static const char *const names[] = {"a", "b", "c"};
static const mrd__duck_type types[] = {MRD__DUCK_DOUBLE, MRD__DUCK_TEXT, MRD__DUCK_TEXT};

static mrd_status next(void *ctx, mrd__duck_out *columns, size_t *rows, mrd_error *error)
{
    size_t *made = ctx;
    (void)error;
    *rows = *made < WARM_ROWS ? MRD__DUCK_BATCH : 0;
    for (size_t i = 0; i < *rows; i++) {
        double number = (double)(*made + i) * 1.5;
        ((double *)columns[0].data)[i] = number;
        char text[24];
        memset(text, 'a' + (int)(i % 7), sizeof text);
        memcpy(text + 8, &number, sizeof number);
        for (size_t c = 8; c < 16; c++)
            text[c] = (char)('a' + (text[c] & 15));
        mrd__duck_out_text(&columns[1], i, (mrd__str){text, 8});
        if (i & 1)
            mrd__duck_out_null(&columns[2], i);
        else
            mrd__duck_out_text(&columns[2], i, (mrd__str){text, sizeof text});
    }
    *made += *rows;
    return MRD_OK;
}

static void take_nothing(void *ctx, const mrd__duck_chunk *chunk)
{
    (void)ctx, (void)chunk;
}

static mrd_status see_nothing(void *ctx, mrd__str key, mrd__str value, mrd_error *error)
{
    (void)ctx, (void)key, (void)value, (void)error;
    return MRD_OK;
}

static mrd_status read_answer(mrd__duck *duck, const char *sql, const mrd__str *param,
                              mrd_error *error)
{
    mrd__duck_rows *rows = NULL;
    mrd__duck_chunk chunk;
    mrd_status status = mrd__duck_query(duck, sql, param, param ? 1 : 0, &rows, error);
    if (status == MRD_OK) status = mrd__duck_rows_next(rows, &chunk, error);
    mrd__duck_rows_close(&rows);
    return status;
}

static mrd_status read_back(mrd__duck *duck, int fd, mrd_error *error)
{
    char name[MRD__DUCK_FD_NAME];
    mrd__str param = mrd__str_of(mrd__duck_fd_name(fd, name));
    MRD__TRY(mrd__duck_parquet_kv(duck, fd, see_nothing, NULL, error));
    MRD__TRY(read_answer(duck, "SELECT num_rows FROM parquet_file_metadata($1)", &param, error));
    mrd__buf sql = {0};
    mrd__buf_printf(&sql, "DESCRIBE SELECT * FROM read_parquet('%s')", name);
    mrd_status status = read_answer(duck, sql.data, NULL, error);
    mrd__buf_clear(&sql);
    mrd__buf_printf(&sql, "read_parquet('%s', file_row_number = true)", name);
    mrd__duck_taker taker = {.take = take_nothing};
    if (status == MRD_OK)
        status =
            mrd__duck_scan(duck, "file_row_number, \"a\", \"b\", \"c\"", sql.data, &taker, error);
    mrd__buf_reset(&sql);
    return status;
}

void mrd__duck_warm(void)
{
    mrd_error error = {0}; /* who needs DuckDB meets it again */
    mrd__duck *duck = NULL;
    if (mrd__duck_open(&duck, 0, &error) != MRD_OK) return;
    int fd = memfd_create("meridian-warm", MFD_CLOEXEC);
    size_t made = 0;
    mrd__duck_source source = {3, names, types, next, &made};
    mrd__duck_kv kv = {"a", MRD__STR("b")};
    if (fd >= 0 && mrd__duck_write_parquet(duck, fd, &source, &kv, 1, &error) == MRD_OK)
        (void)!read_back(duck, fd, &error);
    if (fd >= 0) close(fd);
    mrd__duck_close(&duck);
}
