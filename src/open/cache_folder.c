#include "open/cache_folder.h"

#include "base/error.h"
#include "model/image.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool mrd__cache_folder(mrd__buf *out)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (cache != NULL && cache[0] == '/')
        mrd__buf_printf(out, "%s/meridian", cache);
    else if (home != NULL && home[0] == '/')
        mrd__buf_printf(out, "%s/.cache/meridian", home);
    else
        return false;
    return true;
}

/* The paths of a key, one a line: the text behind the last tab of each line of its first part. */
static char *inputs_of(const char *path)
{
    mrd__buf key = {0};
    mrd_error error;
    if (mrd__image_key(path, &key, &error) != MRD_OK) {
        mrd__buf_reset(&key);
        return NULL;
    }
    mrd__buf out = {0};
    for (const char *line = key.data; line != NULL && *line != '\0' && *line != '\n';) {
        const char *end = strchr(line, '\n');
        if (end == NULL) break;
        const char *tab = memrchr(line, '\t', (size_t)(end - line));
        if (tab != NULL) mrd__buf_printf(&out, "%.*s\n", (int)(end - tab - 1), tab + 1);
        line = end + 1;
    }
    mrd__buf_reset(&key);
    return out.data;
}

/* Call seen for every file of the folder whose name has a piece; a missing folder has none. */
static mrd_status each_file(void (*seen)(void *ctx, const char *path, const struct stat *info),
                            const char *piece, void *ctx, mrd_error *error)
{
    mrd__buf folder = {0};
    if (!mrd__cache_folder(&folder)) return MRD_OK;
    DIR *open = opendir(folder.data);
    if (open == NULL) {
        mrd_status status = errno == ENOENT
                                ? MRD_OK
                                : mrd__fail_errno(error, folder.data, "cannot read the folder");
        mrd__buf_reset(&folder);
        return status;
    }
    for (const struct dirent *entry = readdir(open); entry != NULL; entry = readdir(open)) {
        if (strstr(entry->d_name, piece) == NULL) continue;
        mrd__buf path = {0};
        mrd__buf_printf(&path, "%s/%s", folder.data, entry->d_name);
        struct stat info;
        if (lstat(path.data, &info) == 0 && S_ISREG(info.st_mode)) seen(ctx, path.data, &info);
        mrd__buf_reset(&path);
    }
    closedir(open);
    mrd__buf_reset(&folder);
    return MRD_OK;
}

static void take_entry(void *ctx, const char *path, const struct stat *info)
{
    if (!mrd__text_ends(path, ".image")) return;
    mrd__cache_entries *entries = ctx;
    mrd__cache_entry entry = {.path = mrd__strndup(path, strlen(path)),
                              .bytes = (uint64_t)info->st_size,
                              .used_ns = (int64_t)info->st_mtim.tv_sec * 1000000000 +
                                         info->st_mtim.tv_nsec};
    mrd__vec_push(entries, entry);
}

static int compare_use(const void *left, const void *right)
{
    const mrd__cache_entry *a = left;
    const mrd__cache_entry *b = right;
    if (a->used_ns != b->used_ns) return a->used_ns > b->used_ns ? -1 : 1;
    return strcmp(a->path, b->path);
}

static mrd_status list_files(mrd__cache_entries *out, mrd_error *error)
{
    *out = (mrd__cache_entries){0};
    mrd_status status = each_file(take_entry, ".image", out, error);
    if (out->count > 1) qsort(out->data, out->count, sizeof *out->data, compare_use);
    return status;
}

mrd_status mrd__cache_list(mrd__cache_entries *out, mrd_error *error)
{
    mrd_status status = list_files(out, error);
    for (size_t i = 0; i < out->count; i++)
        out->data[i].inputs = inputs_of(out->data[i].path);
    return status;
}

void mrd__cache_entries_reset(mrd__cache_entries *entries)
{
    for (size_t i = 0; i < entries->count; i++) {
        mrd__free(entries->data[i].path);
        mrd__free(entries->data[i].inputs);
    }
    mrd__vec_reset(entries);
}

mrd_status mrd__cache_shrink(uint64_t most, mrd_error *error)
{
    mrd__cache_entries entries;
    mrd_status status = list_files(&entries, error);
    uint64_t sum = 0;
    for (size_t i = 0; i < entries.count && status == MRD_OK; i++) {
        sum += entries.data[i].bytes;
        if (sum <= most) continue;
        /* Another program may have removed it meanwhile: that is what was wanted. */
        if (unlink(entries.data[i].path) != 0 && errno != ENOENT)
            status = mrd__fail_errno(error, entries.data[i].path, "cannot remove");
        sum -= entries.data[i].bytes;
    }
    mrd__cache_entries_reset(&entries);
    return status;
}

typedef struct clearing {
    uint64_t files, bytes;
    mrd_status status;
    mrd_error *error;
} clearing;

static void clear_one(void *ctx, const char *path, const struct stat *info)
{
    clearing *c = ctx;
    if (!mrd__text_ends(path, ".image") && strstr(path, ".image.tmp-") == NULL) return;
    if (unlink(path) == 0) {
        c->files++;
        c->bytes += (uint64_t)info->st_size;
    } else if (errno != ENOENT && c->status == MRD_OK) {
        c->status = mrd__fail_errno(c->error, path, "cannot remove");
    }
}

mrd_status mrd__cache_clear(uint64_t *files, uint64_t *bytes, mrd_error *error)
{
    clearing c = {.error = error};
    mrd_status status = each_file(clear_one, ".image", &c, error);
    *files = c.files;
    *bytes = c.bytes;
    return status != MRD_OK ? status : c.status;
}
