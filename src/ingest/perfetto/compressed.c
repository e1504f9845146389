/* Inside of compressed packets. */
#include "ingest/perfetto/state.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define PIECE ((size_t)65536)

bool mrd__pf_inflate(mrd__str packed, mrd__buf *out)
{
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (packed.size > UINT32_MAX || inflateInit(&stream) != Z_OK) return false;
    stream.next_in = (Bytef *)(uintptr_t)packed.data;
    stream.avail_in = (uInt)packed.size;
    int result = Z_OK;
    while (result == Z_OK && out->size < MRD__PF_MAX_PACKET) {
        mrd__buf_reserve(out, PIECE);
        stream.next_out = (Bytef *)out->data + out->size;
        stream.avail_out = (uInt)PIECE;
        result = inflate(&stream, Z_NO_FLUSH);
        out->size += PIECE - stream.avail_out;
    }
    inflateEnd(&stream);
    return result == Z_STREAM_END;
}

bool mrd__pf_unzstd(mrd__str packed, mrd__buf *out)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    if (stream == NULL) return false;
    ZSTD_inBuffer in = {packed.data, packed.size, 0};
    size_t left = 1; /* bytes the frame still wants; 0 at its end */
    bool goes_on = true;
    while (goes_on && out->size < MRD__PF_MAX_PACKET) {
        mrd__buf_reserve(out, PIECE);
        ZSTD_outBuffer piece = {out->data + out->size, PIECE, 0};
        left = ZSTD_decompressStream(stream, &piece, &in);
        if (ZSTD_isError(left)) break;
        out->size += piece.pos;
        goes_on = in.pos < in.size || piece.pos == PIECE;
    }
    ZSTD_freeDStream(stream);
    return left == 0;
}
