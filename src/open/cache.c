/* Keys. A key is text: a line an input, sorted, an empty line, how they are opened. An image keeps
 * behind it the hashes of the whole inputs, which verify compares:
 *
 *   device \t inode \t size \t mtime \t ctime \t sample \t path
 *   ...
 *   (empty)
 *   align \t linear \t manifest
 *   whole hash of each input, in the order of the lines            (images only) */
#include "open/cache.h"

#include "base/alloc.h"
#include "base/error.h"
#include "model/image.h"
#include "open/cache_folder.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define END_BYTES ((size_t)64 << 10)
#define BLOCKS 64
#define BLOCK_BYTES ((size_t)4 << 10)

static bool hash_at(int fd, char *room, uint64_t offset, size_t size, uint64_t *hash)
{
    if (pread(fd, room, size, (off_t)offset) != (ssize_t)size) return false;
    *hash = mrd__hash_mix(*hash, mrd__hash(room, size));
    return true;
}

/* The first and last 64 KiB and 64 blocks between; all of a smaller file. */
static bool sample_file(int fd, uint64_t size, uint64_t *hash)
{
    char *room = mrd__alloc(4 * END_BYTES);
    bool good;
    *hash = size;
    if (size <= 4 * END_BYTES) {
        good = hash_at(fd, room, 0, (size_t)size, hash);
    } else {
        good = hash_at(fd, room, 0, END_BYTES, hash) &&
               hash_at(fd, room, size - END_BYTES, END_BYTES, hash);
        uint64_t step = (size - BLOCK_BYTES) / (BLOCKS + 1);
        for (uint64_t i = 1; i <= BLOCKS && good; i++)
            good = hash_at(fd, room, i * step, BLOCK_BYTES, hash);
    }
    mrd__free(room);
    return good;
}

static bool add_input(const char *path, mrd__buf *line)
{
    char real[PATH_MAX];
    if (realpath(path, real) == NULL) return false;
    int fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    uint64_t sample = 0;
    bool good = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 &&
                strpbrk(real, "\n\t") == NULL && sample_file(fd, (uint64_t)info.st_size, &sample);
    if (good)
        mrd__buf_printf(line, "%llu\t%llu\t%lld\t%lld.%09ld\t%lld.%09ld\t%016llx\t%s\n",
                        (unsigned long long)info.st_dev, (unsigned long long)info.st_ino,
                        (long long)info.st_size, (long long)info.st_mtim.tv_sec,
                        info.st_mtim.tv_nsec, (long long)info.st_ctim.tv_sec, info.st_ctim.tv_nsec,
                        (unsigned long long)sample, real);
    if (fd >= 0) close(fd);
    return good;
}

typedef MRD__VEC(mrd__buf) line_list;

static bool add_line(line_list *lines, const char *path)
{
    mrd__buf line = {0};
    bool good = add_input(path, &line);
    mrd__vec_push(lines, line);
    return good;
}

/* A session is opened by its manifest, and read from these beside it. The manifest has their
 * hashes, but an opening does not check them: a file that was changed since is another input. */
static bool add_session(line_list *lines, const char *manifest)
{
    static const char *const names[] = {"session.json", "seal.json", "domain.mrl", "metrics.mrl"};
    const char *slash = strrchr(manifest, '/');
    const char *name = slash != NULL ? slash + 1 : manifest;
    bool good = true;
    if (strcmp(name, "metrics-manifest.json") != 0) return true;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && good; i++) {
        mrd__buf path = {0};
        mrd__buf_add(&path, manifest, (size_t)(name - manifest));
        mrd__buf_text(&path, names[i]);
        good = add_line(lines, path.data);
        mrd__buf_reset(&path);
    }
    return good;
}

static int compare_lines(const void *left, const void *right)
{
    const mrd__buf *a = left;
    const mrd__buf *b = right;
    return strcmp(a->data, b->data);
}

bool mrd__cache_key(const char *const *paths, size_t count, const mrd_open_options *options,
                    mrd__buf *key)
{
    /* A manifest given as text has no file that a key could name. */
    if (options != NULL && options->manifest_text != NULL) return false;
    const char *manifest = options != NULL ? options->manifest : NULL;
    size_t all = count + (manifest != NULL);
    if (all == 0 || all > MRD__CACHE_INPUTS) return false;
    line_list lines = {0};
    bool good = true;
    for (size_t i = 0; i < all && good; i++) {
        const char *path = i < count ? paths[i] : manifest;
        good = add_line(&lines, path) && (i == count || add_session(&lines, path));
    }
    if (good) {
        qsort(lines.data, lines.count, sizeof *lines.data, compare_lines);
        for (size_t i = 0; i < lines.count; i++)
            mrd__buf_add(key, lines.data[i].data, lines.data[i].size);
        mrd__buf_printf(key, "\n%d\t%d\t%s\n", options != NULL ? (int)options->align : 0,
                        options != NULL && options->clock_linear, manifest != NULL ? manifest : "");
    }
    for (size_t i = 0; i < lines.count; i++)
        mrd__buf_reset(&lines.data[i]);
    mrd__vec_reset(&lines);
    return good;
}

/* ---- Images ---- */

static bool image_path(mrd__str key, mrd__buf *out)
{
    if (!mrd__cache_folder(out)) return false;
    mrd__buf_printf(
        out, "/%016llx.image",
        (unsigned long long)mrd__hash_mix(mrd__hash(key.data, key.size), mrd__build_hash()));
    return true;
}

/* The hash of each input whole, a line each. */
static mrd_status add_whole_hashes(mrd__str key, mrd__buf *out, mrd_error *error)
{
    const char *line = key.data;
    while (*line != '\n') {
        const char *end = strchr(line, '\n');
        const char *tab = memrchr(line, '\t', (size_t)(end - line));
        char *path = mrd__strndup(tab + 1, (size_t)(end - tab - 1));
        mrd__map map = {0};
        mrd_status status = mrd__map_open(&map, path, error);
        mrd__free(path);
        MRD__TRY(status);
        mrd__buf_printf(out, "%016llx\n", (unsigned long long)mrd__hash(map.data, map.size));
        mrd__map_close(&map);
        line = end + 1;
    }
    return MRD_OK;
}

bool mrd__cache_open(mrd__str key, bool verify, uint32_t threads, mrd__store **out)
{
    mrd__buf path = {0};
    mrd__buf found = {0};
    mrd__buf wanted = {0};
    mrd_error error;
    bool good = image_path(key, &path) && mrd__file_exists(path.data) &&
                mrd__image_key(path.data, &found, &error) == MRD_OK && found.size >= key.size &&
                memcmp(found.data, key.data, key.size) == 0;
    if (good && verify) {
        mrd__buf_add(&wanted, key.data, key.size);
        good = add_whole_hashes(key, &wanted, &error) == MRD_OK && wanted.size == found.size &&
               memcmp(wanted.data, found.data, found.size) == 0;
    }
    uint32_t workers = threads != 0 ? threads : mrd__cores();
    good = good && mrd__image_open(path.data, (mrd__str){found.data, found.size}, verify, workers,
                                   out, &error) == MRD_OK;
    /* Its place in the order of use; where that fails it only goes sooner. */
    if (good) (void)utimensat(AT_FDCWD, path.data, NULL, 0);
    mrd__buf_reset(&wanted);
    mrd__buf_reset(&found);
    mrd__buf_reset(&path);
    return good;
}

static mrd_status make_folder(const char *file, mrd_error *error)
{
    char *folder = mrd__strndup(file, (size_t)(strrchr(file, '/') - file));
    mrd_status status = mrd__make_folders(folder, error);
    if (status == MRD_OK && chmod(folder, 0700) != 0) /* traces tell what their owner does */
        status = mrd__fail_errno(error, folder, "cannot make the folder private");
    mrd__free(folder);
    return status;
}

mrd_status mrd__cache_write(const mrd__store *store, mrd__str key, mrd_error *error)
{
    mrd__buf path = {0};
    if (!image_path(key, &path))
        return mrd__fail(error, MRD_ERR_IO, "no_cache_folder",
                         "neither XDG_CACHE_HOME nor HOME names a folder for the cache");
    mrd__buf whole = {0};
    mrd__buf_add(&whole, key.data, key.size);
    mrd_status status = add_whole_hashes(key, &whole, error);
    if (status == MRD_OK) status = make_folder(path.data, error);
    if (status == MRD_OK)
        status = mrd__image_write(store, (mrd__str){whole.data, whole.size}, path.data, error);
    if (status == MRD_OK) status = mrd__cache_shrink(MRD__CACHE_BYTES, error);
    mrd__buf_reset(&whole);
    mrd__buf_reset(&path);
    return status;
}
