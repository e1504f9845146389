#include "ingest/unit.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os.h"
#include "ingest/chrome_json/fast.h"
#include "ingest/chrome_json/parallel.h"
#include "ingest/chrome_json/reader.h"
#include "ingest/dump.h"
#include "ingest/gzip.h"
#include "ingest/harness.h"

/* The text as a file without a name; close what is returned. */
static int as_file(mrd__str text, mrd__map *map)
{
    int fd = memfd_create("text", 0);
    if (fd < 0 || write(fd, text.data, text.size) != (ssize_t)text.size) fail_msg("memfd");
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    mrd_error error = {0};
    if (mrd__map_open(map, path, &error) != MRD_OK) fail_msg("%s", error.message);
    return fd;
}

static mrd_status read_parallel(mrd__writer *writer, mrd__shard *shard,
                                mrd__chrome_json_reader *reader, mrd__str text, way how, size_t *at,
                                uint64_t *rejected, mrd_error *error)
{
    mrd__cj_parallel_options options = {.writer = writer,
                                        .threads = how.threads,
                                        .chunk = how.chunk,
                                        .first_order = 1,
                                        .path = "test",
                                        .borders =
                                            how.scan ? MRD__CJ_BORDERS_SCAN : MRD__CJ_BORDERS_AUTO};
    mrd__map map = {0};
    int fd = -1;
    if (how.copied) {
        fd = as_file(text, &map);
        options.map = &map;
    }
    mrd__cj_parallel_result result = mrd__cj_read_parallel(&options, text.data, text.size, *at);
    mrd__map_close(&map);
    if (fd >= 0) close(fd);
    bool last = text.size - result.at < how.chunk;
    if (rejected != NULL && last) *rejected += result.rejected;
    *at = result.at;
    mrd__shard_chunk(shard, result.next_order);
    mrd__chrome_json_resume(reader, result.closed);
    return mrd__chrome_json_map(reader, text.data, text.size, at, error);
}

static mrd_status read_text(mrd__writer *writer, mrd__str text, way how, uint64_t *rejected,
                            mrd_error *error)
{
    mrd__shard *shard = mrd__writer_shard(writer, 0);
    mrd__shard_chunk(shard, 0);
    mrd__cj_reader_options options = {.shard = shard,
                                      .fast = how.fast,
                                      .own_args = how.feed > 0,
                                      .stop_at_events = how.threads > 0};
    mrd__chrome_json_reader *reader = mrd__chrome_json_create(&options);
    mrd_status status = MRD_OK;
    if (how.feed > 0) {
        for (size_t at = 0; at < text.size && status == MRD_OK; at += how.feed) {
            size_t left = text.size - at;
            status = mrd__chrome_json_feed(reader, text.data + at,
                                           left < how.feed ? left : how.feed, error);
        }
    } else {
        size_t at = 0;
        status = mrd__chrome_json_map(reader, text.data, text.size, &at, error);
        if (status == MRD_OK && mrd__chrome_json_at_events(reader))
            status = read_parallel(writer, shard, reader, text, how, &at, rejected, error);
    }
    if (status == MRD_OK) status = mrd__chrome_json_finish(reader, false, error);
    mrd__chrome_json_destroy(&reader);
    return status;
}

void read_way(mrd__str text, way how, mrd__buf *out, uint64_t *rejected)
{
    /* A block of its own with just the slack behind it that readers may ask for. */
    char *copy = mrd__calloc(1, text.size + MRD__CJ_SLACK);
    if (text.size > 0) memcpy(copy, text.data, text.size);
    mrd__writer *writer = mrd__writer_create();
    mrd__writer_add_file(writer, "test", "chrome_json", text.size, NULL);
    mrd_error error = {0};
    mrd_status status = read_text(writer, (mrd__str){copy, text.size}, how, rejected, &error);
    mrd__writer_finish(writer);
    mrd__buf_clear(out);
    if (status == MRD_OK)
        dump_facts(writer, copy, out);
    else
        mrd__buf_printf(out, "error %s\n", error.code);
    mrd__writer_destroy(&writer);
    mrd__free(copy);
}

static void show_difference(const char *name, way how, const mrd__buf *want, const mrd__buf *got)
{
    size_t at = 0;
    while (at < want->size && at < got->size && want->data[at] == got->data[at])
        at++;
    size_t line = at;
    while (line > 0 && want->data[line - 1] != '\n')
        line--;
    print_error("%s: feed %zu, fast %d, threads %u, chunk %zu, scan %d, copied %d\n", name,
                how.feed, how.fast, how.threads, how.chunk, how.scan, how.copied);
    print_error("want: %.300s\n", want->size > 0 ? want->data + line : "");
    print_error("got:  %.300s\n", got->size > line ? got->data + line : "");
}

static void check_way(const char *name, mrd__str text, way how, const mrd__buf *want)
{
    mrd__buf got = {0};
    read_way(text, how, &got, NULL);
    bool same =
        got.size == want->size && (got.size == 0 || memcmp(got.data, want->data, got.size) == 0);
    if (!same) show_difference(name, how, want, &got);
    mrd__buf_reset(&got);
    if (!same) fail_msg("%s", name);
}

void check_all_ways(const char *name, mrd__str text)
{
    static const size_t feeds[] = {1, 2, 7, 64, 4096};
    static const size_t chunks[] = {16, 1021, 65536};
    bool large = text.size > 1 << 20; /* all of it would take minutes and show nothing new */
    mrd__buf want = {0};
    read_way(text, (way){0}, &want, NULL);
    check_way(name, text, (way){.fast = true}, &want);
    for (size_t i = 0; i < sizeof feeds / sizeof feeds[0]; i++) {
        if (large && feeds[i] < 4096) continue;
        if (!large) check_way(name, text, (way){.feed = feeds[i]}, &want);
        check_way(name, text, (way){.feed = feeds[i], .fast = true}, &want);
    }
    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
        if (large && chunks[i] < 65536) continue;
        way how = {.fast = true, .threads = 1, .chunk = chunks[i]};
        check_way(name, text, how, &want);
        how.copied = true;
        check_way(name, text, how, &want);
        how.scan = true;
        check_way(name, text, how, &want);
        how.threads = 3;
        check_way(name, text, how, &want);
        how.copied = false;
        check_way(name, text, how, &want);
        how.scan = false; /* several guess where events begin */
        check_way(name, text, how, &want);
        how.copied = true;
        check_way(name, text, how, &want);
    }
    mrd__buf_reset(&want);
}

/* ---- Real files ---- */

static void read_file(const char *path, const char *name, each_file each)
{
    mrd__map map = {0};
    mrd_error error = {0};
    if (mrd__map_open(&map, path, &error) != MRD_OK) fail_msg("%s", error.message);
    if (mrd__is_gzip(map.data, map.size)) {
        mrd__gzip *gzip = mrd__gzip_create(map.data, map.size);
        mrd__buf text = {0};
        while (mrd__gzip_info_of(gzip)->end == MRD__GZIP_GOES_ON) {
            mrd__buf_reserve(&text, 1 << 20);
            text.size += mrd__gzip_read(gzip, text.data + text.size, 1 << 20);
        }
        each(name, (mrd__str){text.data, text.size});
        mrd__buf_reset(&text);
        mrd__gzip_destroy(&gzip);
    } else {
        each(name, (mrd__str){map.data, map.size});
    }
    mrd__map_close(&map);
}

static bool ends_with(const char *name, const char *end)
{
    size_t size = strlen(name), tail = strlen(end);
    return size >= tail && strcmp(name + size - tail, end) == 0;
}

static bool walk_folder(const char *path, each_file each)
{
    DIR *folder = opendir(path);
    if (folder == NULL) return false;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char full[4096];
        struct stat info;
        snprintf(full, sizeof full, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] == '.' || stat(full, &info) != 0) continue;
        if (S_ISDIR(info.st_mode))
            walk_folder(full, each);
        else if (ends_with(full, ".json") || ends_with(full, ".gz"))
            read_file(full, entry->d_name, each);
    }
    closedir(folder);
    return true;
}

bool for_real_files(each_file each)
{
    bool there = walk_folder(MRD_SOURCE_DIR "/../shared/data/chrome", each) &&
                 walk_folder(MRD_SOURCE_DIR "/../shared/data/pytorch", each);
    if (!there) print_message("SKIP: ../shared/data is not there\n");
    return there;
}
