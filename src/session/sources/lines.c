#include "session/sources/lines.h"

#include "base/assert.h"

#include <string.h>

void mrd__lines_init(mrd__lines *lines, size_t limit)
{
    mrd__assert(limit > 0);
    *lines = (mrd__lines){.limit = limit};
}

void mrd__lines_reset(mrd__lines *lines)
{
    mrd__buf_reset(&lines->part);
    *lines = (mrd__lines){.limit = lines->limit};
}

/* Keep a piece of the open line; over the limit only its head stays. */
static void keep(mrd__lines *lines, const char *data, size_t size)
{
    lines->size += size;
    if (lines->size <= lines->limit) {
        mrd__buf_add(&lines->part, data, size);
        return;
    }
    size_t head = lines->limit < MRD__LINE_HEAD ? lines->limit : MRD__LINE_HEAD;
    if (lines->part.size < head) {
        size_t more = head - lines->part.size;
        mrd__buf_add(&lines->part, data, more < size ? more : size);
    } else if (lines->part.size > head) {
        mrd__buf kept = {0};
        mrd__buf_add(&kept, lines->part.data, head);
        mrd__buf_reset(&lines->part);
        lines->part = kept;
    }
}

static bool give(mrd__lines *lines, bool ended, mrd__line_fn take, void *ctx)
{
    mrd__line line = {
        .bytes = {lines->part.size > 0 ? lines->part.data : "", lines->part.size},
        .size = lines->size,
        .ended = ended,
    };
    lines->lines++;
    lines->size = 0;
    bool more = take(ctx, &line);
    mrd__buf_clear(&lines->part);
    return more;
}

bool mrd__lines_feed(mrd__lines *lines, const char *data, size_t size, mrd__line_fn take, void *ctx)
{
    lines->bytes += size;
    const char *at = data, *end = data + size;
    while (at < end) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((feed != NULL ? feed : end) - at);
        bool whole = feed != NULL && lines->size == 0 && length <= lines->limit;
        if (whole) { /* the common case: nothing is copied */
            mrd__line line = {.bytes = {at, length}, .size = length, .ended = true};
            lines->lines++;
            if (!take(ctx, &line)) return false;
        } else {
            keep(lines, at, length);
            if (feed != NULL && !give(lines, true, take, ctx)) return false;
        }
        at += length + (feed != NULL);
    }
    return true;
}

bool mrd__lines_end(mrd__lines *lines, mrd__line_fn take, void *ctx)
{
    return lines->size == 0 || give(lines, false, take, ctx);
}
