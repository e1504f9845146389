#include "cli/cli.h"

#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void say(const char *format, va_list list, const char *tail)
{
    char line[4096];
    vsnprintf(line, sizeof line, format, list);
    for (char *at = line; *at != '\0'; at++) {
        if (*at == '\n' || *at == '\r') *at = ' '; /* one line, whatever a name holds */
    }
    fprintf(stderr, "meridian: %s%s\n", line, tail);
}

void mrd__cli_say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(format, list, "");
    va_end(list);
}

int mrd__cli_usage(const mrd__cli *cli, const char *format, ...)
{
    char tail[128];
    snprintf(tail, sizeof tail, "; see meridian %s --help", cli->command->name);
    va_list list;
    va_start(list, format);
    say(format, list, tail);
    va_end(list);
    return MRD__EXIT_USAGE;
}

int mrd__cli_fail(const mrd_error *error)
{
    char text[2048];
    if (strcmp(error->code, "closed_pipe") != 0)
        mrd__cli_say("%s", mrd_error_text(error, text, sizeof text));
    /* A window of too many rows is a question asked wrongly, as it is over HTTP. */
    bool usage = error->status == MRD_ERR_ARGUMENT || strcmp(error->code, "too_many_rows") == 0;
    return usage ? MRD__EXIT_USAGE : MRD__EXIT_FAILED;
}

int mrd__cli_fail_spec(const mrd__cli *cli, mrd_error *error)
{
    const char *path = cli->operands.data[0];
    if (strcmp(error->code, "bad_spec") == 0 && error->file[0] == '\0' && strcmp(path, "-") != 0)
        snprintf(error->file, sizeof error->file, "%s", path);
    return mrd__cli_fail(error);
}

static mrd_status write_all(int fd, const char *path, const void *data, size_t size,
                            mrd_error *error)
{
    const char *at = data;
    while (size > 0) {
        ssize_t written = write(fd, at, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0 && errno == EPIPE)
            return mrd__fail(error, MRD_ERR_IO, "closed_pipe", "%s: the reader went away", path);
        if (written < 0) return mrd__fail_errno(error, path, "cannot write");
        at += written;
        size -= (size_t)written;
    }
    return MRD_OK;
}

static mrd_status write_stdout(void *ctx, const void *data, size_t size, mrd_error *error)
{
    (void)ctx;
    return write_all(STDOUT_FILENO, "standard output", data, size, error);
}

mrd_sink mrd__cli_stdout(void)
{
    return (mrd_sink){NULL, write_stdout};
}

int mrd__cli_print(mrd__buf *buf)
{
    mrd_error error = {0};
    mrd_sink sink = mrd__cli_stdout();
    mrd_status status = mrd__buf_flush(buf, &sink, &error);
    mrd__buf_reset(buf);
    return status == MRD_OK ? MRD__EXIT_DONE : mrd__cli_fail(&error);
}

static int add_piece(const char *data, size_t size, void *buf)
{
    mrd__buf_add(buf, data, size);
    return 0;
}

void mrd__cli_json(mrd__buf *out, const struct json_t *value)
{
    if (json_dump_callback(value, add_piece, out,
                           JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)) != 0)
        mrd__buf_text(out, "null");
}

/* ---- Whole files ---- */

mrd_status mrd__cli_file_open(mrd__cli_file *file, const char *path, mrd_error *error)
{
    uint64_t random;
    mrd__random_bytes(&random, sizeof random);
    mrd__buf name = {0};
    mrd__buf_printf(&name, "%s.tmp-%016llx", path, (unsigned long long)random);
    *file = (mrd__cli_file){.fd = open(name.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666),
                            .path = mrd__strndup(path, strlen(path)),
                            .temporary = name.data};
    if (file->fd >= 0) return MRD_OK;
    mrd_status status = mrd__fail_errno(error, path, "cannot create");
    mrd__free(file->path);
    mrd__free(file->temporary);
    return status;
}

static mrd_status write_file(void *ctx, const void *data, size_t size, mrd_error *error)
{
    const mrd__cli_file *file = ctx;
    return write_all(file->fd, file->path, data, size, error);
}

mrd_sink mrd__cli_file_sink(mrd__cli_file *file)
{
    return (mrd_sink){file, write_file};
}

mrd_status mrd__cli_file_close(mrd__cli_file *file, mrd_status status, mrd_error *error)
{
    if (status == MRD_OK && fsync(file->fd) != 0)
        status = mrd__fail_errno(error, file->path, "cannot write");
    if (close(file->fd) != 0 && status == MRD_OK)
        status = mrd__fail_errno(error, file->path, "cannot write");
    if (status == MRD_OK && rename(file->temporary, file->path) != 0)
        status = mrd__fail_errno(error, file->path, "cannot rename to this name");
    if (status != MRD_OK) unlink(file->temporary);
    mrd__free(file->path);
    mrd__free(file->temporary);
    *file = (mrd__cli_file){.fd = -1};
    return status;
}
