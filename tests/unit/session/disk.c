#include "disk.h"

#include "base/assert.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define NO_NODE SIZE_MAX
#define SECTOR 512u

/* ---- Names ---- */

static size_t find(const disk_entries *entries, const char *name, size_t size)
{
    for (size_t i = 0; i < entries->count; i++)
        if (strlen(entries->data[i].name) == size && memcmp(entries->data[i].name, name, size) == 0)
            return i;
    return NO_NODE;
}

/* The node of path, or NO_NODE; *parent and *last are the folder and the name in it. */
static size_t look_up(const disk *d, const char *path, size_t *parent, const char **last)
{
    size_t node = 0;
    *parent = NO_NODE;
    *last = "";
    while (*path == '/')
        path++;
    while (*path != '\0') {
        size_t size = strcspn(path, "/");
        if (node == NO_NODE || !d->nodes.data[node].folder) {
            *parent = NO_NODE;
            return NO_NODE;
        }
        *parent = node;
        *last = path;
        size_t at = find(&d->nodes.data[node].entries, path, size);
        node = at == NO_NODE ? NO_NODE : d->nodes.data[*parent].entries.data[at].node;
        path += size;
        while (*path == '/')
            path++;
    }
    return node;
}

static void put_name(disk_entries *entries, const disk_entry *entry)
{
    size_t at = find(entries, entry->name, strlen(entry->name));
    if (at != NO_NODE)
        entries->data[at] = *entry;
    else
        mrd__vec_push(entries, *entry);
}

static void take_name(disk_entries *entries, const char *name)
{
    size_t at = find(entries, name, strlen(name));
    if (at != NO_NODE) entries->data[at] = entries->data[--entries->count];
}

static void apply(disk_entries *entries, const disk_change *change)
{
    if (change->taken.name[0] != '\0') take_name(entries, change->taken.name);
    if (change->put.name[0] != '\0') put_name(entries, &change->put);
}

static disk_entry entry_of(const char *name, size_t node)
{
    disk_entry entry = {.node = node};
    snprintf(entry.name, sizeof entry.name, "%.*s", (int)strcspn(name, "/"), name);
    return entry;
}

static void change_folder(disk *d, size_t folder, disk_change change)
{
    apply(&d->nodes.data[folder].entries, &change);
    mrd__vec_push(&d->nodes.data[folder].changes, change);
}

static size_t add_node(disk *d, bool folder, mode_t mode)
{
    disk_node node = {.folder = folder, .mode = mode};
    mrd__vec_push(&d->nodes, node);
    return d->nodes.count - 1;
}

static int refuse(int number)
{
    errno = number;
    return -1;
}

static void note_call(disk *d)
{
    d->calls++;
    if (d->before != NULL) d->before(d->before_ctx, d);
}

/* ---- The calls ---- */

static int disk_open_call(void *ctx, const char *path, int flags, mode_t mode)
{
    disk *d = ctx;
    size_t parent;
    const char *last;
    if (flags & O_CREAT) note_call(d);
    size_t node = look_up(d, path, &parent, &last);
    if (node != NO_NODE && (flags & O_EXCL)) return refuse(EEXIST);
    if (node == NO_NODE && !(flags & O_CREAT)) return refuse(ENOENT);
    if (node == NO_NODE && parent == NO_NODE) return refuse(ENOENT);
    if (node == NO_NODE) {
        node = add_node(d, false, mode);
        change_folder(d, parent, (disk_change){.put = entry_of(last, node)});
    }
    size_t fd = 0;
    while (fd < d->open.count && d->open.data[fd].used)
        fd++;
    disk_open open = {.used = true, .append = (flags & O_APPEND) != 0, .node = node};
    if (fd == d->open.count) mrd__vec_push(&d->open, open);
    d->open.data[fd] = open;
    return (int)fd;
}

static disk_node *node_of(disk *d, int fd)
{
    mrd__assert(fd >= 0 && (size_t)fd < d->open.count && d->open.data[fd].used);
    return &d->nodes.data[d->open.data[fd].node];
}

/* All files of sessions are written from their beginning to their end. */
static ssize_t disk_write(void *ctx, int fd, const void *data, size_t size)
{
    disk *d = ctx;
    note_call(d);
    disk_node *node = node_of(d, fd);
    mrd__buf_add(&node->data, data, size);
    if (node->data.size > node->longest.size) {
        mrd__buf_clear(&node->longest);
        mrd__buf_add(&node->longest, node->data.data, node->data.size);
    }
    return (ssize_t)size;
}

static ssize_t disk_pread(void *ctx, int fd, void *out, size_t size, uint64_t offset)
{
    const disk_node *node = node_of(ctx, fd);
    if (offset >= node->data.size) return 0;
    size_t left = node->data.size - (size_t)offset;
    if (left < size) size = left;
    memcpy(out, node->data.data + offset, size);
    return (ssize_t)size;
}

static int disk_size(void *ctx, int fd, uint64_t *size)
{
    *size = node_of(ctx, fd)->data.size;
    return 0;
}

static void assign(mrd__buf *to, const mrd__buf *from)
{
    mrd__buf_clear(to);
    if (from->size > 0) mrd__buf_add(to, from->data, from->size);
}

static void sync_node(disk_node *node)
{
    assign(&node->synced, &node->data);
    mrd__buf_clear(&node->longest);
    node->changes.count = 0;
    node->synced_entries.count = 0;
    for (size_t i = 0; i < node->entries.count; i++)
        mrd__vec_push(&node->synced_entries, node->entries.data[i]);
}

static int disk_sync(void *ctx, int fd)
{
    disk *d = ctx;
    note_call(d);
    d->syncs++;
    if (d->fail_sync) {
        d->fail_sync = false;
        return refuse(EIO);
    }
    sync_node(node_of(d, fd));
    return 0;
}

static int disk_truncate(void *ctx, int fd, uint64_t size)
{
    disk *d = ctx;
    note_call(d);
    disk_node *node = node_of(d, fd);
    if (d->fail_truncate) return refuse(EIO);
    mrd__assert(size <= node->data.size);
    node->data.size = (size_t)size;
    return 0;
}

static int disk_chmod(void *ctx, int fd, mode_t mode)
{
    node_of(ctx, fd)->mode = mode;
    return 0;
}

static int disk_close(void *ctx, int fd)
{
    disk *d = ctx;
    disk_node *node = node_of(d, fd);
    if (node->locked_by == fd + 1) node->locked_by = 0;
    d->open.data[fd].used = false;
    return 0;
}

static int disk_mkdir(void *ctx, const char *path, mode_t mode)
{
    disk *d = ctx;
    size_t parent;
    const char *last;
    note_call(d);
    size_t node = look_up(d, path, &parent, &last);
    if (node != NO_NODE) return refuse(EEXIST);
    if (parent == NO_NODE) return refuse(ENOENT);
    node = add_node(d, true, mode);
    change_folder(d, parent, (disk_change){.put = entry_of(last, node)});
    return 0;
}

/* Both names in one folder: all that sessions need. */
static int rename_to(disk *d, const char *from, const char *to, bool new)
{
    size_t parent;
    size_t to_parent;
    const char *last;
    const char *to_last;
    note_call(d);
    size_t node = look_up(d, from, &parent, &last);
    size_t there = look_up(d, to, &to_parent, &to_last);
    if (node == NO_NODE) return refuse(ENOENT);
    if (there != NO_NODE && new) return refuse(EEXIST);
    mrd__assert(parent == to_parent);
    change_folder(d, parent,
                  (disk_change){.put = entry_of(to_last, node), .taken = entry_of(last, NO_NODE)});
    return 0;
}

static int disk_rename(void *ctx, const char *from, const char *to)
{
    return rename_to(ctx, from, to, false);
}

static int disk_rename_new(void *ctx, const char *from, const char *to)
{
    return rename_to(ctx, from, to, true);
}

static int disk_unlink(void *ctx, const char *path)
{
    disk *d = ctx;
    size_t parent;
    const char *last;
    note_call(d);
    if (look_up(d, path, &parent, &last) == NO_NODE) return refuse(ENOENT);
    change_folder(d, parent, (disk_change){.taken = entry_of(last, NO_NODE)});
    return 0;
}

static int disk_exists(void *ctx, const char *path)
{
    size_t parent;
    const char *last;
    return look_up(ctx, path, &parent, &last) != NO_NODE;
}

static int disk_list(void *ctx, const char *path, void (*name)(void *name_ctx, const char *name),
                     void *name_ctx)
{
    const disk *d = ctx;
    size_t parent;
    const char *last;
    size_t node = look_up(d, path, &parent, &last);
    if (node == NO_NODE) return refuse(ENOENT);
    for (size_t i = 0; i < d->nodes.data[node].entries.count; i++)
        name(name_ctx, d->nodes.data[node].entries.data[i].name);
    return 0;
}

static int disk_lock(void *ctx, int fd)
{
    disk_node *node = node_of(ctx, fd);
    if (node->locked_by != 0 && node->locked_by != fd + 1) return refuse(EWOULDBLOCK);
    node->locked_by = fd + 1;
    return 0;
}

static uint64_t disk_now(void *ctx)
{
    disk *d = ctx;
    return d->clock_ns += 1000;
}

void disk_begin(disk *d)
{
    *d = (disk){
        .files =
            {
                .open = disk_open_call,
                .write = disk_write,
                .pread = disk_pread,
                .size = disk_size,
                .fdatasync = disk_sync,
                .fsync = disk_sync,
                .ftruncate = disk_truncate,
                .fchmod = disk_chmod,
                .close = disk_close,
                .mkdir = disk_mkdir,
                .rename = disk_rename,
                .rename_new = disk_rename_new,
                .unlink = disk_unlink,
                .exists = disk_exists,
                .list = disk_list,
                .lock = disk_lock,
                .now_ns = disk_now,
            },
        .clock_ns = 1000000000,
    };
    d->files.ctx = d;
    (void)add_node(d, true, 0777);
}

void disk_end(disk *d)
{
    for (size_t i = 0; i < d->nodes.count; i++) {
        disk_node *node = &d->nodes.data[i];
        mrd__buf_reset(&node->data);
        mrd__buf_reset(&node->synced);
        mrd__buf_reset(&node->longest);
        mrd__vec_reset(&node->entries);
        mrd__vec_reset(&node->synced_entries);
        mrd__vec_reset(&node->changes);
    }
    mrd__vec_reset(&d->nodes);
    mrd__vec_reset(&d->open);
}

/* ---- Copies ---- */

static void copy_entries(disk_node *to, const disk_entries *from)
{
    to->entries.count = 0;
    for (size_t i = 0; i < from->count; i++)
        mrd__vec_push(&to->entries, from->data[i]);
}

/* to gets the nodes of from, empty. */
static void copy_nodes(disk *to, const disk *from)
{
    disk_begin(to);
    for (size_t i = 1; i < from->nodes.count; i++)
        (void)add_node(to, from->nodes.data[i].folder, from->nodes.data[i].mode);
}

void disk_copy(disk *to, const disk *from)
{
    copy_nodes(to, from);
    for (size_t i = 0; i < from->nodes.count; i++) {
        assign(&to->nodes.data[i].data, &from->nodes.data[i].data);
        copy_entries(&to->nodes.data[i], &from->nodes.data[i].entries);
        sync_node(&to->nodes.data[i]);
    }
}

static bool flip(mrd__rng *rng)
{
    return mrd__rng_next(rng) & 1;
}

/* A block of the file as it may stand after the cut. */
static void cut_block(mrd__buf *out, const disk_node *node, size_t at, size_t size, mrd__rng *rng)
{
    const mrd__buf *versions[] = {&node->synced, &node->data, &node->longest};
    const mrd__buf *from = versions[mrd__rng_below(rng, 3)];
    size_t kept = from->size > at ? from->size - at : 0;
    if (kept > size) kept = size;
    /* What was synced and not changed since is there. */
    bool same = node->synced.size >= at + size && node->data.size >= at + size &&
                memcmp(node->synced.data + at, node->data.data + at, size) == 0;
    if (same) {
        from = &node->synced;
        kept = size;
    }
    if (kept > 0) mrd__buf_add(out, from->data + at, kept);
    bool rubbish = flip(rng);
    for (size_t i = kept; i < size; i++) {
        /* Never shorter than what was synced, as far as that holds. */
        bool held = at + i < node->synced.size && at + i < node->data.size;
        mrd__buf_char(out, held      ? node->synced.data[at + i]
                           : rubbish ? (char)mrd__rng_next(rng)
                                     : '\0');
    }
}

static void cut_file(disk_node *to, const disk_node *node, mrd__rng *rng)
{
    size_t longest = node->longest.size > node->data.size ? node->longest.size : node->data.size;
    size_t least = node->synced.size < node->data.size ? node->synced.size : node->data.size;
    if (node->synced.size > longest) longest = node->synced.size;
    size_t sizes[] = {node->synced.size, node->data.size,
                      least + (size_t)mrd__rng_below(rng, longest - least + 1),
                      longest - (longest - least) % SECTOR};
    size_t size = sizes[mrd__rng_below(rng, 4)];
    for (size_t at = 0; at < size;) {
        size_t step = SECTOR - at % SECTOR;
        if (step > size - at) step = size - at;
        /* A block that straddles the synced end keeps what was before it. */
        if (at < least && at + step > least) step = least - at;
        cut_block(&to->data, node, at, step, rng);
        at += step;
    }
}

void disk_cut(disk *to, const disk *from, mrd__rng *rng)
{
    copy_nodes(to, from);
    for (size_t i = 0; i < from->nodes.count; i++) {
        const disk_node *node = &from->nodes.data[i];
        disk_node *copy = &to->nodes.data[i];
        if (!node->folder) {
            cut_file(copy, node, rng);
        } else {
            uint64_t how = mrd__rng_below(rng, 3); /* all, a prefix, any */
            size_t some = (size_t)mrd__rng_below(rng, node->changes.count + 1);
            copy_entries(copy, &node->synced_entries);
            for (size_t k = 0; k < node->changes.count; k++)
                if (how == 0 || (how == 1 && k < some) || (how == 2 && flip(rng)))
                    apply(&copy->entries, &node->changes.data[k]);
        }
        sync_node(copy);
    }
}

/* ---- From outside ---- */

mrd__buf *disk_file(disk *d, const char *path)
{
    size_t parent;
    const char *last;
    size_t node = look_up(d, path, &parent, &last);
    return node == NO_NODE ? NULL : &d->nodes.data[node].data;
}

void disk_put(disk *d, const char *path, const void *data, size_t size)
{
    size_t parent;
    const char *last;
    size_t node = look_up(d, path, &parent, &last);
    if (node == NO_NODE) {
        mrd__assert(parent != NO_NODE);
        node = add_node(d, false, 0666);
        change_folder(d, parent, (disk_change){.put = entry_of(last, node)});
    }
    mrd__buf_clear(&d->nodes.data[node].data);
    if (size > 0) mrd__buf_add(&d->nodes.data[node].data, data, size);
}

void disk_remove(disk *d, const char *path)
{
    int rc = disk_unlink(d, path);
    mrd__assert(rc == 0);
}

static bool same_node(const disk *left, size_t a, const disk *right, size_t b)
{
    const disk_node *x = &left->nodes.data[a];
    const disk_node *y = &right->nodes.data[b];
    if (x->folder != y->folder || x->entries.count != y->entries.count) return false;
    if (!x->folder)
        return x->data.size == y->data.size &&
               (x->data.size == 0 || memcmp(x->data.data, y->data.data, x->data.size) == 0);
    for (size_t i = 0; i < x->entries.count; i++) {
        const disk_entry *entry = &x->entries.data[i];
        size_t other = find(&y->entries, entry->name, strlen(entry->name));
        if (other == NO_NODE || !same_node(left, entry->node, right, y->entries.data[other].node))
            return false;
    }
    return true;
}

bool disk_same(const disk *left, const disk *right)
{
    return same_node(left, 0, right, 0);
}
