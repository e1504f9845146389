/* Every input is read into a writer of its own, and these are joined in the order of the inputs: so
 * nothing depends on which thread was first. */
#include "open/read.h"

#include "base/assert.h"
#include "base/error.h"
#include "model/facts.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct job { /* of one input */
    mrd__writer *writer;
    mrd_status status;
    mrd_error error;
    uint64_t done; /* bytes, under the lock */
} job;

typedef struct reading {
    mrd__inputs *inputs;
    const mrd_open_options *options;
    uint32_t threads; /* of each reader */
    job *jobs;        /* [inputs] */
    uint32_t *queue;  /* inputs */
    pthread_mutex_t lock;
    atomic_bool stop;
} reading;

/* ---- Progress ---- */

typedef struct progress_of {
    reading *r;
    uint32_t input;
} progress_of;

/* What is read of the file that was asked for, its members together. */
static bool tell(void *ctx, const char *path, uint64_t done, uint64_t total)
{
    progress_of *p = ctx;
    reading *r = p->r;
    const mrd__input *own = &r->inputs->list.data[p->input];
    (void)path;
    pthread_mutex_lock(&r->lock);
    /* Importers count in what they like; the share is what tells. */
    r->jobs[p->input].done =
        total > 0 ? (uint64_t)((double)done / (double)total * (double)own->bytes) : 0;
    uint64_t sum = 0;
    uint64_t all = 0;
    for (size_t i = own->root; i < r->inputs->list.count; i++) {
        const mrd__input *input = &r->inputs->list.data[i];
        if (input->root != own->root) break;
        if (input->container) continue;
        sum += r->jobs[i].done;
        all += input->bytes;
    }
    bool go_on = r->options->progress(r->options->progress_ctx,
                                      r->inputs->list.data[own->root].path, sum, all);
    if (!go_on) atomic_store(&r->stop, true);
    pthread_mutex_unlock(&r->lock);
    return go_on && !atomic_load(&r->stop);
}

/* ---- One input ---- */

/* A name under which a member's bytes can be opened, as long as the descriptor is. */
static int name_bytes(const mrd__map *map, char *name, size_t size)
{
    int fd = memfd_create("member", MFD_CLOEXEC);
    if (fd < 0) return -1;
    for (size_t at = 0; at < map->size;) {
        ssize_t put = write(fd, map->data + at, map->size - at);
        if (put <= 0) {
            close(fd);
            return -1;
        }
        at += (size_t)put;
    }
    snprintf(name, size, "/proc/self/fd/%d", fd);
    return fd;
}

static mrd_status read_by_path(mrd__import *in, const mrd__importer *importer, mrd_error *error)
{
    char name[64];
    int fd = name_bytes(in->map, name, sizeof name);
    if (fd < 0) return mrd__fail_errno(error, in->path, "cannot hold the member in memory");
    in->data_path = name;
    mrd_status status = importer->read(in, error);
    close(fd);
    /* The name says nothing to anybody else. */
    if (status != MRD_OK && error != NULL && strcmp(error->file, name) == 0) error->file[0] = '\0';
    return status;
}

static void read_input(reading *r, uint32_t index)
{
    mrd__input *input = &r->inputs->list.data[index];
    job *own = &r->jobs[index];
    if (atomic_load(&r->stop)) return;
    own->writer = mrd__writer_create();
    progress_of progress = {r, index};
    mrd__import in = {
        .path = input->path, .map = &input->map, .writer = own->writer, .threads = r->threads};
    if (r->options != NULL && r->options->progress != NULL) {
        in.progress = tell;
        in.progress_ctx = &progress;
    }
    if (input->importer->by_path && input->parent != MRD__NONE)
        own->status = read_by_path(&in, input->importer, &own->error);
    else
        own->status = input->importer->read(&in, &own->error);
    if (own->status != MRD_OK) (void)mrd__fail_at(&own->error, own->status, input->path, -1);
    mrd__map_close(&input->map);
    pthread_mutex_lock(&r->lock);
    own->done = input->bytes;
    pthread_mutex_unlock(&r->lock);
}

static void read_queued(void *ctx, size_t index, uint32_t worker)
{
    reading *r = ctx;
    (void)worker;
    read_input(r, r->queue[index]);
}

/* Large plain files alone, the others side by side. */
static bool stands_alone(const mrd__input *input)
{
    return input->bytes >= MRD__READ_ALONE && !mrd__input_is_packed(input);
}

static void read_all(reading *r, uint32_t threads)
{
    size_t count = r->inputs->list.count;
    size_t queued = 0;
    size_t readable = 0;
    for (uint32_t i = 0; i < count; i++)
        readable += r->inputs->list.data[i].importer != NULL;
    for (uint32_t i = 0; i < count; i++) {
        const mrd__input *input = &r->inputs->list.data[i];
        if (input->importer == NULL) continue;
        r->threads = threads;
        if (readable == 1 || stands_alone(input))
            read_input(r, i);
        else
            r->queue[queued++] = i;
    }
    r->threads = queued < threads && queued > 0 ? threads / (uint32_t)queued : 1;
    mrd__parallel_for(threads, queued, read_queued, r);
}

/* ---- Joining ---- */

static mrd_status join_input(reading *r, uint32_t index, mrd__writer *writer, mrd_error *error)
{
    mrd__input *input = &r->inputs->list.data[index];
    job *own = &r->jobs[index];
    bool loss = own->status == MRD_ERR_FORMAT && input->parent != MRD__NONE;
    if (own->status != MRD_OK && !loss) {
        if (error != NULL) *error = own->error;
        return own->status;
    }
    /* Their times are doubles of one simulation each. */
    if (own->writer != NULL && own->writer->events != NULL && writer->events != NULL)
        return mrd__fail_at(error,
                            mrd__fail(error, MRD_ERR_UNSUPPORTED, "two_event_traces",
                                      "a second event trace beside %.300s, a trace holds one",
                                      mrd__writer_file(writer, writer->events_file)->path),
                            input->path, -1);
    uint32_t file;
    if (own->writer != NULL && own->status == MRD_OK) {
        file = mrd__writer_join(writer, &own->writer);
    } else {
        file = mrd__writer_add_file(writer, input->path, input->format, input->bytes, NULL);
        mrd__writer_file(writer, file)->clock = NULL;
    }
    mrd__assert(file == index);
    mrd__file *info = mrd__writer_file(writer, file);
    info->order = index;
    info->container = input->container;
    info->parent = input->parent == MRD__NONE ? 0 : input->parent + 1;
    if (loss)
        mrd__writer_loss(writer, file, MRD__LOSS_BAD_MEMBER, 1, own->error.offset,
                         mrd__str_of(own->error.message), 0);
    for (size_t i = 0; i < input->losses.count; i++) {
        const mrd__input_loss *l = &input->losses.data[i];
        mrd__writer_loss(writer, file, l->id, l->count, l->offset, mrd__str_of(l->text), 0);
    }
    return MRD_OK;
}

mrd_status mrd__read_inputs(mrd__inputs *inputs, const mrd_open_options *options, uint32_t threads,
                            mrd__writer *writer, mrd_error *error)
{
    size_t count = inputs->list.count;
    reading r = {.inputs = inputs,
                 .options = options,
                 .jobs = mrd__new_array(job, count),
                 .queue = mrd__new_array(uint32_t, count)};
    pthread_mutex_init(&r.lock, NULL);
    read_all(&r, threads);
    mrd_status status = MRD_OK;
    if (atomic_load(&r.stop))
        status = mrd__fail(error, MRD_ERR_CANCELLED, "cancelled", "cancelled");
    for (uint32_t i = 0; i < count && status == MRD_OK; i++)
        status = join_input(&r, i, writer, error);
    for (uint32_t i = 0; i < count; i++)
        mrd__writer_destroy(&r.jobs[i].writer);
    pthread_mutex_destroy(&r.lock);
    mrd__free(r.jobs);
    mrd__free(r.queue);
    return status;
}
