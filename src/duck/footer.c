/* A look at a Parquet footer ahead of DuckDB. The footer is one Thrift struct (compact protocol).
 * DuckDB makes room for as many entries as a list announces before it reads the first: 400 bytes
 * could ask for gigabytes. So all counts and lengths are walked here first; what they announce must
 * lie within the footer. Meaning is left to DuckDB.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "duck/duck.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOOTER_MAX (64u << 20) /* entries of DuckDB are some 100 times their bytes here */
#define DEPTH_MAX 32           /* a real footer nests 7 deep */
#define TAIL 8                 /* length of the footer, "PAR1" */

typedef enum kind {
    STOP = 0,
    TRUE = 1,
    FALSE = 2,
    BYTE = 3,
    I64 = 6, /* 4 and 5 are shorter integers of the same form */
    DOUBLE = 7,
    BINARY = 8,
    LIST = 9,
    SET = 10,
    MAP = 11,
    STRUCT = 12,
    UUID = 13,
} kind;

typedef struct walk {
    const unsigned char *data;
    size_t size, at;
    const char *what; /* static text of what is wrong, NULL while all is well */
    uint64_t value;   /* that is wrong */
} walk;

static void wrong(walk *w, const char *what, uint64_t value)
{
    if (w->what) return;
    w->what = what;
    w->value = value;
}

static void step(walk *w, uint64_t bytes, const char *what)
{
    if (bytes > w->size - w->at)
        wrong(w, what, bytes);
    else
        w->at += (size_t)bytes;
}

static unsigned take_byte(walk *w)
{
    size_t at = w->at;
    step(w, 1, "bytes wanted past the end");
    return w->what ? 0 : w->data[at];
}

static uint64_t take_varint(walk *w)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned byte = take_byte(w);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return value;
    }
    wrong(w, "a number longer than 64 bits", 0);
    return 0;
}

static void walk_value(walk *w, unsigned type, unsigned depth);

static void walk_list(walk *w, unsigned depth)
{
    unsigned head = take_byte(w);
    uint64_t count = head >> 4 == 15 ? take_varint(w) : head >> 4;
    if (count > w->size - w->at) wrong(w, "entries of a list", count);
    for (uint64_t i = 0; i < count && !w->what; i++) {
        // Alone in a list, a truth value takes a byte; as a field its type says it.
        unsigned type = head & 15;
        walk_value(w, type == TRUE || type == FALSE ? BYTE : type, depth);
    }
}

static void walk_map(walk *w, unsigned depth)
{
    uint64_t count = take_varint(w);
    if (count > w->size - w->at) wrong(w, "entries of a map", count);
    if (count == 0 || w->what) return;
    unsigned types = take_byte(w);
    for (uint64_t i = 0; i < count && !w->what; i++) {
        walk_value(w, types >> 4 <= FALSE ? BYTE : types >> 4, depth);
        walk_value(w, (types & 15) <= FALSE ? BYTE : types & 15, depth);
    }
}

static void walk_struct(walk *w, unsigned depth)
{
    while (!w->what) {
        unsigned head = take_byte(w);
        if (head == STOP) return;
        if (head >> 4 == 0) (void)take_varint(w); /* the field's number in full */
        walk_value(w, head & 15, depth);
    }
}

/* Calls itself through lists, maps and structs, DEPTH_MAX deep at most. */
static void walk_value(walk *w, unsigned type, unsigned depth)
{
    if (depth > DEPTH_MAX) wrong(w, "levels of nesting and more", DEPTH_MAX);
    if (w->what) return;
    if (type >= 4 && type <= I64)
        (void)take_varint(w);
    else if (type == BYTE)
        (void)take_byte(w);
    else if (type == DOUBLE)
        step(w, 8, "bytes of a number");
    else if (type == UUID)
        step(w, 16, "bytes of an identifier");
    else if (type == BINARY)
        step(w, take_varint(w), "bytes of a text");
    else if (type == LIST || type == SET)
        walk_list(w, depth + 1);
    else if (type == MAP)
        walk_map(w, depth + 1);
    else if (type == STRUCT)
        walk_struct(w, depth + 1);
    else if (type != TRUE && type != FALSE)
        wrong(w, "as the type of a value", type);
}

static mrd_status check(const unsigned char *data, size_t size, mrd_error *error)
{
    walk w = {.data = data, .size = size};
    walk_struct(&w, 0);
    if (!w.what) return MRD_OK;
    return mrd__fail(error, MRD_ERR_FORMAT, "bad_trace",
                     "the Parquet footer is damaged at its byte %zu of %zu: %llu %s", w.at, size,
                     (unsigned long long)w.value, w.what);
}

mrd_status mrd__duck_check_footer(int fd, mrd_error *error)
{
    struct stat info;
    unsigned char tail[TAIL];
    if (fstat(fd, &info) != 0 || info.st_size < TAIL + 4) return MRD_OK;
    if (pread(fd, tail, TAIL, info.st_size - TAIL) != TAIL || memcmp(tail + 4, "PAR1", 4) != 0)
        return MRD_OK;
    uint32_t size =
        tail[0] | (uint32_t)tail[1] << 8 | (uint32_t)tail[2] << 16 | (uint32_t)tail[3] << 24;
    if (size > info.st_size - TAIL - 4) return MRD_OK;
    if (size > FOOTER_MAX) {
        return mrd__fail(error, MRD_ERR_LIMIT, "footer_too_long",
                         "the Parquet footer has %u bytes, at most %u are read", size, FOOTER_MAX);
    }
    unsigned char *data = mrd__alloc(size);
    ssize_t got = pread(fd, data, size, info.st_size - TAIL - (off_t)size);
    // What cannot be read now is told by DuckDB, which reads it again.
    mrd_status status = got == (ssize_t)size ? check(data, size, error) : MRD_OK;
    mrd__free(data);
    return status;
}
