/* The importer's row of the registry, and the walks over a file. */
#include "ingest/perfetto/perfetto.h"

#include "base/alloc.h"
#include "base/error.h"
#include "ingest/gzip.h"
#include "ingest/perfetto/state.h"

/* A file begins with a packet; its fields, as far as the prefix holds them, are fields. */
static bool sniff(const char *head, size_t size)
{
    if (size == 0 || (unsigned char)head[0] != PB_BYTES(TRACE_PACKET)) return false;
    mrd__pb at = {.at = (const unsigned char *)head + 1, .end = (const unsigned char *)head + size};
    uint64_t length;
    if (!mrd__pb_varint(&at, &length) || length > MRD__PF_MAX_PACKET) return false;
    size_t left = (size_t)(at.end - at.at);
    bool whole = length <= left;
    mrd__pb packet = mrd__pb_of((mrd__str){(const char *)at.at, whole ? (size_t)length : left});
    size_t fields = 0;
    for (mrd__pb_field f; mrd__pb_next(&packet, &f);)
        fields++;
    /* A first field that is longer than the prefix tells nothing; its length was in bounds. */
    if (!whole) return fields > 0 || size == MRD__SNIFF_BYTES;
    if (packet.bad) return false;
    at.at += length;
    return at.at == at.end || *at.at == PB_BYTES(TRACE_PACKET);
}

/* Clocks as info names them. */
static const char *clock_name(uint32_t id)
{
    static const char *const names[] = {NULL,        "realtime",         "realtime_coarse",
                                        "monotonic", "monotonic_coarse", "monotonic_raw",
                                        "boottime"};
    return id > 0 && id < sizeof names / sizeof *names ? names[id] : "other";
}

/* Walk the file piece by piece, so that progress is told on the way; false when cancelled. */
static bool walk(mrd__pf *pf, const mrd__import *in, mrd__str bytes)
{
    size_t at = 0;
    while (at < bytes.size) {
        if (in->progress != NULL && !pf->describing &&
            !in->progress(in->progress_ctx, in->path, at, bytes.size))
            return false;
        mrd__pb rest = mrd__pb_of((mrd__str){bytes.data + at, bytes.size - at});
        const unsigned char *start = rest.at;
        mrd__pb_field f;
        while ((size_t)(rest.at - start) < MRD__PF_TICK && mrd__pb_next(&rest, &f)) {
        }
        size_t piece = rest.bad ? bytes.size - at : (size_t)(rest.at - start);
        mrd__pf_packets(pf, (mrd__str){bytes.data + at, piece}, (int64_t)at, 0);
        at += piece;
    }
    return true;
}

static bool walk_twice(mrd__pf *pf, const mrd__import *in, mrd__str bytes)
{
    mrd__shard_chunk(pf->shard, 0);
    pf->describing = true;
    walk(pf, in, bytes);
    pf->describing = false;
    if (!walk(pf, in, bytes)) return false;
    mrd__pf_write_sched(pf);
    mrd__pf_write_lanes(pf);
    return true;
}

/* How the gzip file ended, as losses of the file at hand. */
static void count_gzip_end(mrd__pf *pf, const mrd__gzip_info *info)
{
    pf->offset = (int64_t)info->inflated;
    if (info->zero_padding > 0)
        mrd__shard_loss(pf->shard, MRD__LOSS_ZERO_PADDING, 0, info->zero_padding, pf->offset, NULL,
                        0);
    if (info->garbage > 0) mrd__pf_loss(pf, MRD__LOSS_TRAILING_DATA, NULL);
    if (info->end != MRD__GZIP_WHOLE) mrd__pf_loss(pf, MRD__LOSS_TRUNCATED_INPUT, info->what);
    mrd__writer_file(pf->writer, pf->file)->gzip_members = info->members;
}

/* Inflated as a whole: the file is walked twice. */
static mrd_status read_gzip(mrd__pf *pf, const mrd__import *in, bool *done, mrd_error *error)
{
    mrd__gzip *gzip = mrd__gzip_create(in->map->data, in->map->size);
    mrd__buf text = {0};
    size_t got;
    do {
        mrd__buf_reserve(&text, MRD__PF_PIECE);
        got = mrd__gzip_read(gzip, text.data + text.size, MRD__PF_PIECE);
        text.size += got;
    } while (got > 0 && text.size < MRD__PF_MAX_INFLATED);
    mrd_status status = MRD_OK;
    if (text.size >= MRD__PF_MAX_INFLATED) {
        status = mrd__fail(error, MRD_ERR_LIMIT, "file_too_large",
                           "the file inflates to more than %zu bytes", MRD__PF_MAX_INFLATED);
    } else {
        *done = walk_twice(pf, in, (mrd__str){text.data, text.size});
        count_gzip_end(pf, mrd__gzip_info_of(gzip));
    }
    mrd__buf_reset(&text);
    mrd__gzip_destroy(&gzip);
    return status;
}

static mrd_status read_file(mrd__import *in, mrd_error *error)
{
    /* Nothing of a store points into the file: its map ends with the reading. */
    mrd__str bytes = {in->map->data, in->map->size};
    mrd__pf pf = {.writer = in->writer};
    pf.file =
        mrd__writer_add_file(in->writer, in->path, mrd__importer_perfetto.name, bytes.size, NULL);
    pf.shard = mrd__writer_shard(in->writer, pf.file);
    bool done = true;
    mrd_status status = MRD_OK;
    if (mrd__is_gzip(bytes.data, bytes.size))
        status = read_gzip(&pf, in, &done, error);
    else
        done = walk_twice(&pf, in, bytes);
    uint32_t clock = mrd__pf_trace_clock(&pf);
    mrd__writer_file(in->writer, pf.file)->clock = clock_name(clock);
    mrd__writer_clock(in->writer, pf.file, (mrd__file_clock){.id = clock});
    mrd__pf_reset(&pf);
    MRD__TRY(status);
    return done ? MRD_OK : mrd__fail(error, MRD_ERR_CANCELLED, "cancelled", "cancelled");
}

const mrd__importer mrd__importer_perfetto = {
    .name = "perfetto",
    .what = "Perfetto protobuf trace (plain or gzip)",
    .priority = 230,
    .sniff = sniff,
    .read = read_file,
};
