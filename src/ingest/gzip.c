#include "ingest/gzip.h"
#include "base/alloc.h"
#include "base/assert.h"

#include <string.h>
#include <zlib.h>

#define ANY_GZIP (15 + 16) /* the largest window, gzip wrapper only */

struct mrd__gzip {
    const char *data;
    size_t size;
    z_stream stream;
    bool inside; /* a member */
    mrd__gzip_info info;
};

bool mrd__is_gzip(const char *head, size_t size)
{
    return size >= 2 && head[0] == '\x1f' && head[1] == '\x8b';
}

static void *zlib_alloc(void *ctx, unsigned count, unsigned size)
{
    (void)ctx;
    return mrd__calloc(count, size);
}

static void zlib_free(void *ctx, void *block)
{
    (void)ctx;
    mrd__free(block);
}

mrd__gzip *mrd__gzip_create(const char *data, size_t size)
{
    mrd__gzip *gzip = mrd__new(mrd__gzip);
    gzip->data = data;
    gzip->size = size;
    gzip->stream.zalloc = zlib_alloc;
    gzip->stream.zfree = zlib_free;
    int made = inflateInit2(&gzip->stream, ANY_GZIP);
    mrd__assert(made == Z_OK);
    return gzip;
}

void mrd__gzip_destroy(mrd__gzip **gzip)
{
    if (gzip == NULL || *gzip == NULL) return;
    inflateEnd(&(*gzip)->stream);
    mrd__free(*gzip);
    *gzip = NULL;
}

const mrd__gzip_info *mrd__gzip_info_of(const mrd__gzip *gzip)
{
    return &gzip->info;
}

/* Between members: begin the next one, or find the end. */
static void begin_member(mrd__gzip *gzip)
{
    mrd__gzip_info *info = &gzip->info;
    size_t at = info->taken;
    while (at < gzip->size && gzip->data[at] == '\0' && info->members > 0)
        at++;
    bool more = mrd__is_gzip(gzip->data + at, gzip->size - at);
    /* Half a magic number is a member that was cut, not something else. */
    bool half = gzip->size - at == 1 && gzip->data[at] == '\x1f';
    if (!more && !half) {
        info->zero_padding += at - info->taken;
        info->garbage = gzip->size - at;
        info->taken = at;
        info->end = MRD__GZIP_WHOLE;
        return;
    }
    info->zero_padding += at - info->taken;
    info->taken = at;
    info->members++;
    gzip->inside = true;
    inflateReset(&gzip->stream);
}

static void inflate_some(mrd__gzip *gzip, char *out, size_t size, size_t *made)
{
    mrd__gzip_info *info = &gzip->info;
    z_stream *z = &gzip->stream;
    size_t left = gzip->size - info->taken;
    uInt in = left < (1u << 30) ? (uInt)left : 1u << 30;
    uInt room = size - *made < (1u << 30) ? (uInt)(size - *made) : 1u << 30;
    z->next_in = (z_const Bytef *)(gzip->data + info->taken);
    z->avail_in = in;
    z->next_out = (Bytef *)(out + *made);
    z->avail_out = room;
    int result = inflate(z, Z_NO_FLUSH);
    info->taken += in - z->avail_in;
    *made += room - z->avail_out;
    if (result == Z_STREAM_END)
        gzip->inside = false;
    else if (result != Z_OK && result != Z_BUF_ERROR) {
        info->end = MRD__GZIP_DAMAGED;
        info->what = result == Z_NEED_DICT ? "needs a dictionary"
                     : z->msg != NULL      ? z->msg
                                           : "does not inflate";
    } else if (info->taken == gzip->size && z->avail_out > 0)
        info->end = MRD__GZIP_CUT;
}

size_t mrd__gzip_read(mrd__gzip *gzip, char *out, size_t size)
{
    size_t made = 0;
    while (made < size && gzip->info.end == MRD__GZIP_GOES_ON) {
        if (!gzip->inside)
            begin_member(gzip);
        else
            inflate_some(gzip, out, size, &made);
    }
    gzip->info.inflated += made;
    return made;
}
