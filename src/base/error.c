#include "base/error.h"
#include "base/assert.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void mrd__assert_failed(const char *expression, const char *file, int line)
{
    fprintf(stderr, "meridian: assertion failed: %s (%s:%d)\n", expression, file, line);
    fflush(stderr);
    abort();
}

/* Copies what fits; a cut never leaves half a UTF-8 sequence behind. */
static void copy_text(char *out, size_t size, const char *text)
{
    size_t length = strlen(text);
    if (length >= size) {
        length = size - 1;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
    }
    memmove(out, text, length);
    out[length] = '\0';
}

/* vsnprintf cuts at a byte; drop a sequence it has cut, so that the message stays valid UTF-8. */
static void trim_cut_sequence(char *text, size_t size)
{
    size_t length = strlen(text);
    if (length + 1 < size) return;
    size_t lead = length;
    while (lead > 0 && length - lead < 3 && ((unsigned char)text[lead - 1] & 0xc0) == 0x80)
        lead--;
    if (lead == 0) return;
    unsigned char first = (unsigned char)text[lead - 1];
    size_t want = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    if (length - (lead - 1) < want) text[lead - 1] = '\0';
}

mrd_status mrd__fail(mrd_error *error, mrd_status status, const char *code, const char *format, ...)
{
    mrd__assert(status != MRD_OK);
    if (error == NULL) return status;
    /* The arguments may point into *error itself (wrapping a callee's message). */
    char message[sizeof error->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    trim_cut_sequence(message, sizeof message);
    for (char *at = message; *at != '\0'; at++) {
        if (*at == '\n' || *at == '\r') *at = ' ';
    }
    char code_copy[sizeof error->code];
    copy_text(code_copy, sizeof code_copy, code);
    memset(error, 0, sizeof *error);
    error->status = status;
    error->offset = -1;
    memcpy(error->code, code_copy, sizeof code_copy);
    memcpy(error->message, message, sizeof message);
    return status;
}

mrd_status mrd__fail_errno(mrd_error *error, const char *path, const char *what)
{
    int number = errno;
    mrd_status status = number == ENOENT ? MRD_ERR_NOT_FOUND : MRD_ERR_IO;
    const char *code = number == ENOENT ? "no_such_file" : "io_error";
    char reason[128];
    /* The GNU form may return static text; the POSIX form is not visible under _GNU_SOURCE. */
    mrd__fail(error, status, code, "%s: %s", what, strerror_r(number, reason, sizeof reason));
    errno = number;
    return mrd__fail_at(error, status, path, -1);
}

mrd_status mrd__fail_at(mrd_error *error, mrd_status status, const char *file, int64_t offset)
{
    if (error == NULL) return status;
    if (error->file[0] == '\0' && file != NULL) {
        copy_text(error->file, sizeof error->file, file);
        error->offset = offset;
    } else if (error->offset < 0 && file != NULL && strcmp(error->file, file) == 0) {
        error->offset = offset;
    } else if (error->offset < 0 && file == NULL) {
        error->offset = offset;
    }
    return error->status != MRD_OK ? error->status : status;
}

const char *mrd_error_text(const mrd_error *error, char *out, size_t size)
{
    mrd__assert(out != NULL && size > 0);
    if (error->file[0] != '\0' && error->offset >= 0) {
        snprintf(out, size, "%s:offset %lld: %s", error->file, (long long)error->offset,
                 error->message);
    } else if (error->file[0] != '\0') {
        snprintf(out, size, "%s: %s", error->file, error->message);
    } else {
        snprintf(out, size, "%s", error->message);
    }
    trim_cut_sequence(out, size);
    return out;
}
