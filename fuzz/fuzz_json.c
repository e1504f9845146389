/* Chrome JSON: any bytes, plain or gzip, through every way of reading. All ways must agree: the
 * plain walker in one piece is the oracle; feeds of a few bytes, the fast walker and the parallel
 * reader (with guesses, scans and neither, in place and on copies) are held to it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os.h"
#include "ingest/chrome_json/fast.h"
#include "ingest/chrome_json/parallel.h"
#include "ingest/chrome_json/stream.h"
#include "ingest/ingest.h"
#include "model/facts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    MAX_TEXT = 1 << 20
}; /* of what a gzip input inflates to */

typedef struct way {
    size_t feed;
    bool fast;
    size_t chunk; /* above 0: the parallel reader */
    mrd__cj_borders borders;
    const mrd__map *map; /* it copies chunks from this file */
} way;

static uint64_t mix_text(uint64_t sum, const mrd__shard *shard, uint32_t id)
{
    mrd__str text = mrd__shard_text(shard, id);
    if (!mrd__utf8_valid(text)) abort();
    return mrd__hash_mix(sum, mrd__hash(text.data, text.size) + 1);
}

static uint64_t mix_ident(uint64_t sum, const mrd__shard *shard, mrd__ident ident)
{
    sum = mrd__hash_mix(sum, ident.kind);
    return ident.kind == MRD__IDENT_TEXT ? mix_text(sum, shard, ident.text)
                                         : mrd__hash_mix(sum, (uint64_t)ident.number);
}

static uint64_t mix_fact(uint64_t sum, const mrd__shard *shard, const mrd__fact *fact)
{
    const mrd__shard_thread_key *thread = &shard->threads.data[fact->thread];
    sum = mrd__hash_mix(sum, (uint64_t)fact->ts);
    sum = mrd__hash_mix(sum, (uint64_t)fact->dur);
    sum = mrd__hash_mix(sum, (uint64_t)fact->phase << 8 | (fact->flags & MRD__SCOPE_MASK));
    sum = mix_text(mix_text(sum, shard, fact->name), shard, fact->category);
    sum = mix_ident(mix_ident(sum, shard, thread->pid), shard, thread->tid);
    /* Owned args lie elsewhere than args of the file: only the latter's place can be compared. */
    bool place = fact->flags & MRD__ARGS_PLACE;
    sum = mrd__hash_mix(sum, place ? (uint64_t)fact->args : 0);
    if (fact->phase == MRD__COUNTER) return mix_text(sum, shard, fact->extra);
    if (fact->extra == 0) return sum;
    const mrd__side *side = mrd__shard_side_of(shard, fact->extra);
    sum = mix_text(mix_text(sum, shard, side->id), shard, side->scope);
    return mrd__hash_mix(mix_text(sum, shard, side->bind_id), side->flags);
}

/* Facts or metadata of the chunk with this order in any shard. */
static uint64_t mix_chunk(uint64_t sum, const mrd__writer *writer, uint64_t order, bool facts)
{
    for (size_t s = 0; s < writer->shards.count; s++) {
        const mrd__shard *shard = writer->shards.data[s];
        for (size_t c = 0; c < shard->chunks.count; c++) {
            const mrd__chunk *chunk = &shard->chunks.data[c];
            if (chunk->order != order) continue;
            for (uint64_t f = chunk->first; facts && f < chunk->end; f++)
                sum = mix_fact(sum, shard, mrd__shard_fact(shard, f));
            for (uint32_t m = chunk->metadata_first; !facts && m < chunk->metadata_end; m++) {
                const mrd__raw_metadata *row = &shard->metadata.data[m];
                sum = mrd__hash_mix(sum, mrd__hash(row->value, row->value_size));
            }
        }
    }
    return sum;
}

static uint64_t mix_counts(uint64_t sum, const mrd__writer *writer)
{
    mrd__loss_vec all = {0};
    for (unsigned letter = 0; letter < 128; letter++) {
        uint64_t count = 0;
        for (size_t s = 0; s < writer->shards.count; s++)
            count += writer->shards.data[s]->phases[letter];
        sum = mrd__hash_mix(sum, count);
    }
    for (size_t s = 0; s < writer->shards.count; s++) {
        const mrd__loss_vec *losses = &writer->shards.data[s]->losses;
        for (size_t i = 0; i < losses->count; i++)
            mrd__loss_merge(&all, &losses->data[i]);
    }
    uint64_t losses = 0; /* in any order */
    for (size_t i = 0; i < all.count; i++) {
        uint64_t one = mrd__hash_mix(all.data[i].id, all.data[i].count);
        losses += mrd__hash_mix(one, (uint64_t)all.data[i].offset);
    }
    mrd__vec_reset(&all);
    return mrd__hash_mix(sum, losses);
}

static mrd_status read_rest(mrd__writer *writer, mrd__shard *shard, mrd__str text, way how,
                            mrd__chrome_json_reader *reader, size_t *at)
{
    mrd__cj_parallel_options options = {.writer = writer,
                                        .threads = 1,
                                        .chunk = how.chunk,
                                        .first_order = 1,
                                        .path = "fuzz",
                                        .map = how.map,
                                        .borders = how.borders};
    mrd__cj_parallel_result result = mrd__cj_read_parallel(&options, text.data, text.size, *at);
    *at = result.at;
    mrd__shard_chunk(shard, result.next_order);
    mrd__chrome_json_resume(reader, result.closed);
    return mrd__chrome_json_map(reader, text.data, text.size, at, NULL);
}

static mrd_status read_text(mrd__writer *writer, mrd__str text, way how)
{
    mrd__shard *shard = mrd__writer_shard(writer, 0);
    mrd__shard_chunk(shard, 0);
    mrd__cj_reader_options options = {.shard = shard,
                                      .own_args = how.feed > 0,
                                      .fast = how.fast,
                                      .stop_at_events = how.chunk > 0};
    mrd__chrome_json_reader *reader = mrd__chrome_json_create(&options);
    mrd_status status = MRD_OK;
    size_t at = 0;
    if (how.feed > 0) {
        for (; at < text.size && status == MRD_OK; at += how.feed) {
            size_t left = text.size - at;
            status = mrd__chrome_json_feed(reader, text.data + at,
                                           left < how.feed ? left : how.feed, NULL);
        }
    } else {
        status = mrd__chrome_json_map(reader, text.data, text.size, &at, NULL);
        if (status == MRD_OK && mrd__chrome_json_at_events(reader))
            status = read_rest(writer, shard, text, how, reader, &at);
    }
    if (status == MRD_OK) status = mrd__chrome_json_finish(reader, false, NULL);
    mrd__chrome_json_destroy(&reader);
    return status;
}

static uint64_t sum_of(mrd__str text, way how)
{
    mrd__writer *writer = mrd__writer_create();
    mrd__writer_add_file(writer, "fuzz", "chrome_json", text.size, NULL);
    mrd_status status = read_text(writer, text, how);
    mrd__writer_finish(writer);
    uint64_t sum = status;
    if (status == MRD_OK) {
        uint64_t orders = how.chunk > 0 ? 2 * (text.size / how.chunk) + 4 : 1; /* two passes */
        for (uint64_t order = 0; order < orders; order++)
            sum = mix_chunk(sum, writer, order, true);
        for (uint64_t order = 0; order < orders; order++)
            sum = mix_chunk(sum, writer, order, false);
        sum = mix_counts(sum, writer);
    }
    mrd__writer_destroy(&writer);
    return sum;
}

/* The text as a file of its own, mapped; returns what is to be closed behind the map. */
static int map_text(mrd__str text, mrd__map *map)
{
    char path[64];
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, text.data, text.size) != (ssize_t)text.size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (text.size > 0 && mrd__map_open(map, path, NULL) != MRD_OK) abort();
    return fd;
}

static void check_text(mrd__str text, uint8_t pick)
{
    mrd__map map = {0};
    int fd = map_text(text, &map);
    size_t chunk = 16 + pick % 64;
    const way ways[] = {
        {.fast = true},
        {.feed = 1 + pick % 9},
        {.feed = 1 + pick % 70, .fast = true},
        {.fast = true, .chunk = chunk},
        {.fast = true, .chunk = chunk, .borders = MRD__CJ_BORDERS_SCAN},
        {.fast = true, .chunk = chunk, .borders = MRD__CJ_BORDERS_SCAN, .map = &map},
        {.fast = true, .chunk = chunk, .borders = MRD__CJ_BORDERS_GUESS},
        {.fast = true, .chunk = chunk, .borders = MRD__CJ_BORDERS_GUESS, .map = &map},
        {.fast = true, .chunk = chunk, .map = &map}};
    uint64_t want = sum_of(text, (way){0});
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (sum_of(text, ways[i]) != want) abort();
    }
    mrd__map_close(&map);
    close(fd);
}

/* A gzip input: as a stream, then its text in all ways. */
static void check_gzip(const char *data, size_t size)
{
    mrd__writer *writer = mrd__writer_create();
    mrd__writer_add_file(writer, "fuzz", "chrome_json", size, NULL);
    mrd__shard *shard = mrd__writer_shard(writer, 0);
    mrd__shard_chunk(shard, 0);
    mrd__chrome_json_reader *reader = mrd__chrome_json_create(
        &(mrd__cj_reader_options){.shard = shard, .own_args = true, .fast = true});
    mrd__gzip *gzip = mrd__gzip_create(data, size);
    mrd__cj_stream stream = {
        .gzip = gzip, .reader = reader, .threads = 1, .piece = 4096, .path = "fuzz"};
    if (mrd__cj_read_stream(&stream, NULL) == MRD_OK) {
        mrd_status status = mrd__chrome_json_finish(reader, false, NULL);
        (void)status;
    }
    mrd__gzip_destroy(&gzip);
    mrd__chrome_json_destroy(&reader);
    mrd__writer_destroy(&writer);
    char *text = mrd__calloc(1, MAX_TEXT + MRD__CJ_SLACK);
    gzip = mrd__gzip_create(data, size);
    size_t got = mrd__gzip_read(gzip, text, MAX_TEXT);
    mrd__gzip_destroy(&gzip);
    check_text((mrd__str){text, got}, (uint8_t)size);
    mrd__free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const mrd__importer *importer;
    mrd_status found =
        mrd__ingest_detect("fuzz", (const char *)data,
                           size < MRD__SNIFF_BYTES ? size : MRD__SNIFF_BYTES, &importer, NULL);
    (void)found;
    if (mrd__is_gzip((const char *)data, size)) {
        check_gzip((const char *)data, size);
        return 0;
    }
    /* Exactly the slack that the fast walker may look at. */
    char *text = mrd__calloc(1, size + MRD__CJ_SLACK);
    if (size > 0) memcpy(text, data, size);
    check_text((mrd__str){text, size}, size > 0 ? data[size / 2] : 0);
    mrd__free(text);
    return 0;
}
