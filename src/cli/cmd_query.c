/* `query`: one statement, statements from standard input, or a prompt (query_prompt.c). */
#include "cli/query.h"

#include "base/os.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TABLE,
    CSV,
    JSON,
    ARROW,
    PARQUET
};

static mrd_status copy_out(int fd, mrd_error *error)
{
    static char piece[65536];
    mrd_sink sink = mrd__cli_stdout();
    ssize_t got = lseek(fd, 0, SEEK_SET);
    while (got >= 0 && (got = read(fd, piece, sizeof piece)) > 0)
        MRD__TRY(sink.write(sink.ctx, piece, (size_t)got, error));
    return got == 0 ? MRD_OK : mrd__fail_errno(error, "a temporary file", "cannot read");
}

/* A file is written as it is; pipes and sockets cannot be opened again by their descriptor, so what
 * goes to one goes to a temporary file first. */
static mrd_status print_parquet(const mrd__asking *asking, const char *sql, size_t size,
                                mrd_error *error)
{
    struct stat out;
    if (fstat(STDOUT_FILENO, &out) == 0 && S_ISREG(out.st_mode) && out.st_size == 0)
        return mrd_query_parquet(asking->trace, sql, size, &asking->options, STDOUT_FILENO, error);
    FILE *file = tmpfile();
    if (file == NULL) return mrd__fail_errno(error, "a temporary file", "cannot make");
    mrd_status status =
        mrd_query_parquet(asking->trace, sql, size, &asking->options, fileno(file), error);
    if (status == MRD_OK) status = copy_out(fileno(file), error);
    (void)fclose(file);
    return status;
}

static mrd_status print_answer(const mrd__asking *asking, const char *sql, size_t size,
                               mrd_error *error)
{
    static const mrd_format formats[] = {MRD_FORMAT_TEXT, MRD_FORMAT_CSV, MRD_FORMAT_JSON,
                                         MRD_FORMAT_ARROW};
    if (asking->format == PARQUET) return print_parquet(asking, sql, size, error);
    mrd_query *query = NULL;
    mrd_sink sink = mrd__cli_stdout();
    mrd_status status = mrd_query_start(asking->trace, sql, size, formats[asking->format],
                                        &asking->options, &query, error);
    bool more = true;
    while (status == MRD_OK && more)
        status = mrd_query_step(query, &sink, &more, error);
    mrd_query_finish(&query);
    return status;
}

/* An answer that goes nowhere. */
static mrd_status drop(void *ctx, const void *data, size_t size, mrd_error *error)
{
    (void)ctx;
    (void)data;
    (void)size;
    (void)error;
    return MRD_OK;
}

/* Runs it again and again, telling on standard error how long each run took. */
static mrd_status time_it(const mrd__asking *asking, const char *sql, size_t size, mrd_error *error)
{
    mrd_sink nowhere = {NULL, drop};
    mrd_status status = MRD_OK;
    for (uint64_t i = 0; status == MRD_OK && i < asking->repeat; i++) {
        mrd_query *query = NULL;
        bool more = true;
        uint64_t start = mrd__monotonic_ns();
        status = mrd_query_start(asking->trace, sql, size, MRD_FORMAT_ARROW, &asking->options,
                                 &query, error);
        while (status == MRD_OK && more)
            status = mrd_query_step(query, &nowhere, &more, error);
        mrd_query_finish(&query);
        fprintf(stderr, "run %llu: %.3f ms\n", (unsigned long long)(i + 1),
                (double)(mrd__monotonic_ns() - start) * 1e-6);
    }
    return status;
}

int mrd__query_run(const mrd__asking *asking, const char *sql, size_t size)
{
    mrd_error error = {0};
    mrd_status status = asking->repeat > 0 ? time_it(asking, sql, size, &error) : MRD_OK;
    if (status == MRD_OK) status = print_answer(asking, sql, size, &error);
    return status == MRD_OK ? MRD__EXIT_DONE : mrd__cli_fail(&error);
}

/* ---- Statements from standard input: each ends with a semicolon at the end of a line ---- */

static int run_lines(const mrd__asking *asking)
{
    mrd__buf sql = {0};
    char line[4096];
    int code = MRD__EXIT_DONE;
    while (code == MRD__EXIT_DONE && fgets(line, sizeof line, stdin) != NULL) {
        mrd__buf_text(&sql, line);
        if (!mrd__query_is_whole(sql.data, sql.size)) continue;
        code = mrd__query_run(asking, sql.data, sql.size);
        mrd__buf_clear(&sql);
    }
    if (code == MRD__EXIT_DONE && mrd__query_has_words(sql.data, sql.size))
        code = mrd__query_run(asking, sql.data, sql.size);
    mrd__buf_reset(&sql);
    return code;
}

bool mrd__query_has_words(const char *sql, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (strchr(" \t\r\n;", sql[i]) == NULL) return true;
    }
    return false;
}

bool mrd__query_is_whole(const char *sql, size_t size)
{
    while (size > 0 && strchr(" \t\r\n", sql[size - 1]) != NULL)
        size--;
    return size > 0 && sql[size - 1] == ';' && mrd__query_has_words(sql, size);
}

/* ---- The command ---- */

/* The last operand is the statement unless a file of that name exists or -c gives one. */
static const char *statement_of(const mrd__cli *cli, size_t *files)
{
    const char *given = mrd__cli_value(cli, "sql");
    *files = cli->operands.count;
    if (given != NULL) return given;
    const char *last = cli->operands.data[cli->operands.count - 1];
    if (cli->operands.count < 2 || mrd__file_exists(last)) return NULL;
    --*files;
    return last;
}

int mrd__cmd_query(const mrd__cli *cli)
{
    bool terminal = isatty(STDOUT_FILENO);
    int usual = mrd__cli_has(cli, "json") ? JSON : terminal ? TABLE : CSV;
    uint64_t repeat = 0;
    uint64_t time_ms = 0;
    uint64_t threads = 0;
    int format = mrd__cli_choice(cli, "format", "table|csv|json|arrow|parquet", usual);
    if (format < 0 || !mrd__cli_uint(cli, "repeat", 1, 1000, &repeat) ||
        !mrd__cli_uint(cli, "time-limit-ms", 1, UINT32_MAX, &time_ms) ||
        !mrd__cli_uint(cli, "threads", 1, 1024, &threads))
        return MRD__EXIT_USAGE;
    if ((format == PARQUET || format == ARROW) && terminal)
        return mrd__cli_usage(cli, "%s does not go to a terminal",
                              format == ARROW ? "arrow" : "parquet");
    size_t files;
    const char *sql = statement_of(cli, &files);
    mrd__asking asking = {.format = format, .repeat = repeat};
    asking.options = (mrd_query_options){
        .threads = (uint32_t)threads, .files = true, .time_ms = (uint32_t)time_ms};
    int code = mrd__cli_open(cli, cli->operands.data, files, &asking.trace);
    if (code != MRD__EXIT_DONE) return code;
    if (sql != NULL)
        code = mrd__query_run(&asking, sql, strlen(sql));
    else if (isatty(STDIN_FILENO))
        code = mrd__query_prompt(&asking);
    else
        code = run_lines(&asking);
    return mrd__cli_close(cli, &asking.trace, code);
}
