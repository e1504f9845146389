/* The importer's row of the registry: sniffing, and which reader a file gets. */
#include "base/error.h"
#include "ingest/chrome_json/chrome_json.h"
#include "ingest/chrome_json/limits.h"
#include "ingest/chrome_json/reader.h"
#include "ingest/gzip.h"

#include <string.h>

static bool sniff(const char *head, size_t size)
{
    size_t at = size >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < size && mrd__cj_space(head[at]))
        at++;
    if (at == size || (head[at] != '{' && head[at] != '[')) return false;
    bool object = head[at++] == '{';
    while (at < size && mrd__cj_space(head[at]))
        at++;
    if (at == size) return true;
    return object ? head[at] == '"' || head[at] == '}'
                  : head[at] == '{' || head[at] == ']' || head[at] == ',';
}

static mrd_status read_map(mrd__import *in, mrd_error *error)
{
    uint32_t file = mrd__writer_add_file(in->writer, in->path, mrd__importer_chrome_json.name,
                                         in->map->size, in->map);
    const mrd__map *map = &mrd__writer_file(in->writer, file)->map;
    mrd__shard *shard = mrd__writer_shard(in->writer, file);
    mrd__shard_chunk(shard, 0);
    mrd__chrome_json_reader *reader =
        mrd__chrome_json_create(&(mrd__cj_reader_options){.shard = shard});
    size_t at = 0;
    mrd_status status = mrd__chrome_json_map(reader, map->data, map->size, &at, error);
    if (status == MRD_OK) status = mrd__chrome_json_finish(reader, false, error);
    mrd__chrome_json_destroy(&reader);
    return status;
}

/* How the gzip file ended, as losses. True when the text is cut short. */
static bool count_gzip_end(mrd__shard *shard, const mrd__gzip_info *info)
{
    if (info->zero_padding > 0)
        mrd__shard_loss(shard, MRD__LOSS_ZERO_PADDING, 0, info->zero_padding,
                        (int64_t)info->inflated, NULL, 0);
    if (info->garbage > 0)
        mrd__shard_loss(shard, MRD__LOSS_TRAILING_DATA, 0, 1, (int64_t)info->inflated, NULL, 0);
    return info->end != MRD__GZIP_WHOLE;
}

static mrd_status read_gzip(mrd__import *in, mrd_error *error)
{
    uint32_t file = mrd__writer_add_file(in->writer, in->path, mrd__importer_chrome_json.name,
                                         in->map->size, NULL);
    mrd__shard *shard = mrd__writer_shard(in->writer, file);
    mrd__shard_chunk(shard, 0);
    mrd__chrome_json_reader *reader =
        mrd__chrome_json_create(&(mrd__cj_reader_options){.shard = shard, .own_args = true});
    mrd__gzip *gzip = mrd__gzip_create(in->map->data, in->map->size);
    const mrd__gzip_info *info = mrd__gzip_info_of(gzip);
    char *piece = mrd__alloc(MRD__CJ_PIECE);
    mrd_status status = MRD_OK;
    while (status == MRD_OK && info->end == MRD__GZIP_GOES_ON) {
        size_t got = mrd__gzip_read(gzip, piece, MRD__CJ_PIECE);
        status = mrd__chrome_json_feed(reader, piece, got, error);
    }
    if (status == MRD_OK) {
        mrd__writer_file(in->writer, file)->gzip_members = info->members;
        bool cut = count_gzip_end(shard, info);
        status = mrd__chrome_json_finish(reader, cut, error);
    }
    mrd__free(piece);
    mrd__gzip_destroy(&gzip);
    mrd__chrome_json_destroy(&reader);
    return status;
}

static mrd_status read_file(mrd__import *in, mrd_error *error)
{
    bool packed = mrd__is_gzip(in->map->data, in->map->size);
    mrd_status status = packed ? read_gzip(in, error) : read_map(in, error);
    return status == MRD_OK ? MRD_OK : mrd__fail_at(error, status, in->path, -1);
}

const mrd__importer mrd__importer_chrome_json = {
    .name = "chrome_json",
    .what = "Chrome Trace Event JSON (array or object form, plain or gzip)",
    .priority = 110,
    .sniff = sniff,
    .read = read_file,
};
