/* Cutting a stream of bytes into lines with bounded memory. Pure: no I/O, no clock.
 *
 * A line ends at LF (a CR before it is part of the line). NUL and bytes that are no UTF-8 pass
 * through: judging them is the decoder's. A line over the limit is given as its first bytes and
 * its full size; nothing of its rest is kept. Pieces may be cut anywhere. */
#ifndef MRD_SESSION_SOURCES_LINES_H
#define MRD_SESSION_SOURCES_LINES_H

#include "base/text.h"

enum {
    /* What is kept of a line over the limit: enough to see whose it was. */
    MRD__LINE_HEAD = 4096,
};

typedef struct mrd__line {
    mrd__str bytes; /* without the LF; borrowed until the callback returns */
    uint64_t size;  /* full size; above bytes.size where the line was over the limit */
    bool ended;     /* false: the stream ended without LF */
} mrd__line;

/* Takes one line; false stops the feeding, the rest of the piece is then lost. */
typedef bool (*mrd__line_fn)(void *ctx, const mrd__line *line);

typedef struct mrd__lines {
    size_t limit;   /* greatest line, bytes without LF */
    mrd__buf part;  /* of the line that is not ended yet */
    uint64_t size;  /* of that line so far */
    uint64_t bytes; /* fed in all */
    uint64_t lines; /* given in all */
} mrd__lines;

/* Starts anew with a limit above 0; zeroed memory only. */
void mrd__lines_init(mrd__lines *lines, size_t limit);
/* Frees. Accepts zeroed. */
void mrd__lines_reset(mrd__lines *lines);
/* One piece of the stream, each whole line of it to take. False: take refused. One thread. */
bool mrd__lines_feed(mrd__lines *lines, const char *data, size_t size, mrd__line_fn take,
                     void *ctx);
/* The end of the stream: a last line without LF is given, an empty one is none. */
bool mrd__lines_end(mrd__lines *lines, mrd__line_fn take, void *ctx);

#endif
