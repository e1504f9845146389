#include "session/format/broken.h"

#include "base/error.h"
#include "session/format/bytes.h"

enum {
    HAS_HOST = 1,
    UNENDED = 2,
    FLAGS = 3,
};

void mrd__broken_encode(mrd__buf *out, const mrd__broken *broken)
{
    mrd__str reason = broken->reason;
    if (reason.size > MRD__BROKEN_REASON_MAX) reason.size = MRD__BROKEN_REASON_MAX;
    uint8_t head[MRD__BROKEN_HEAD] = {MRD__BROKEN_VERSION};
    head[1] =
        (uint8_t)((broken->has_host_receive ? HAS_HOST : 0) | (broken->unended ? UNENDED : 0));
    head[2] = (uint8_t)(reason.size & 255);
    head[3] = (uint8_t)(reason.size >> 8);
    mrd__put64(head + 8, broken->size);
    mrd__put64(head + 16, broken->offset);
    mrd__put64(head + 24, broken->has_host_receive ? (uint64_t)broken->host_receive.host_ns : 0);
    mrd__put64(head + 32, broken->reconnect_generation);
    mrd__put64(head + 40, broken->target_generation);
    mrd__buf_reserve(out, sizeof head + reason.size + broken->bytes.size);
    mrd__buf_add(out, head, sizeof head);
    mrd__buf_str(out, reason);
    mrd__buf_str(out, broken->bytes);
}

mrd_status mrd__broken_decode(mrd__broken *broken, mrd__str in, mrd_error *error)
{
    const uint8_t *head = (const uint8_t *)in.data;
    if (in.size < MRD__BROKEN_HEAD)
        return mrd__fail(error, MRD_ERR_FORMAT, "bad_broken",
                         "a decode error of %zu bytes, it has at least %d", in.size,
                         MRD__BROKEN_HEAD);
    size_t reason = (size_t)head[2] | (size_t)head[3] << 8;
    if (head[0] != MRD__BROKEN_VERSION || head[1] > FLAGS)
        return mrd__fail(error, MRD_ERR_FORMAT, "bad_broken",
                         "version %u, flags %u of a decode error, allowed are %d and up to %d",
                         head[0], head[1], MRD__BROKEN_VERSION, FLAGS);
    if (reason > MRD__BROKEN_REASON_MAX || reason > in.size - MRD__BROKEN_HEAD)
        return mrd__fail(error, MRD_ERR_FORMAT, "bad_broken",
                         "a reason of %zu bytes in a decode error of %zu", reason, in.size);
    *broken = (mrd__broken){
        .has_host_receive = (head[1] & HAS_HOST) != 0,
        .unended = (head[1] & UNENDED) != 0,
        .size = mrd__get64(head + 8),
        .offset = mrd__get64(head + 16),
        .host_receive = {(int64_t)mrd__get64(head + 24)},
        .reconnect_generation = mrd__get64(head + 32),
        .target_generation = mrd__get64(head + 40),
        .reason = {in.data + MRD__BROKEN_HEAD, reason},
        .bytes = {in.data + MRD__BROKEN_HEAD + reason, in.size - MRD__BROKEN_HEAD - reason},
    };
    return MRD_OK;
}
