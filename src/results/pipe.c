#include "results/pipe.h"

#include <string.h>

void mrd__pipe_init(mrd__pipe *pipe, size_t item,
                    void (*keep)(void *items, size_t count, mrd__buf *texts))
{
    memset(pipe, 0, sizeof *pipe);
    pthread_mutex_init(&pipe->mutex, NULL);
    pthread_cond_init(&pipe->changed, NULL);
    pipe->item = item;
    pipe->keep = keep;
}

void mrd__pipe_reset(mrd__pipe *pipe)
{
    for (int i = 0; i < 2; i++) {
        mrd__buf_reset(&pipe->batches[i].items);
        mrd__buf_reset(&pipe->batches[i].texts);
    }
    pthread_cond_destroy(&pipe->changed);
    pthread_mutex_destroy(&pipe->mutex);
}

bool mrd__pipe_push(mrd__pipe *pipe, const void *items, size_t count)
{
    pthread_mutex_lock(&pipe->mutex);
    while (pipe->made - pipe->taken == 2 && !pipe->abandoned)
        pthread_cond_wait(&pipe->changed, &pipe->mutex);
    bool go_on = !pipe->abandoned;
    mrd__pipe_batch *batch = &pipe->batches[pipe->made % 2];
    pthread_mutex_unlock(&pipe->mutex);
    if (!go_on) return false;
    mrd__buf_clear(&batch->items);
    mrd__buf_clear(&batch->texts);
    mrd__buf_add(&batch->items, items, count * pipe->item);
    if (pipe->keep) pipe->keep(batch->items.data, count, &batch->texts);
    batch->count = count;
    pthread_mutex_lock(&pipe->mutex);
    pipe->made++;
    pthread_cond_broadcast(&pipe->changed);
    pthread_mutex_unlock(&pipe->mutex);
    return true;
}

void mrd__pipe_end(mrd__pipe *pipe, bool whole)
{
    pthread_mutex_lock(&pipe->mutex);
    if (!pipe->ended) pipe->whole = whole;
    pipe->ended = true;
    pthread_cond_broadcast(&pipe->changed);
    pthread_mutex_unlock(&pipe->mutex);
}

size_t mrd__pipe_take(mrd__pipe *pipe, void *out, size_t max, bool *whole)
{
    pthread_mutex_lock(&pipe->mutex);
    for (;;) {
        bool any = pipe->made != pipe->taken;
        if (any && pipe->at == pipe->batches[pipe->taken % 2].count) {
            pipe->taken++;
            pipe->at = 0;
            pthread_cond_broadcast(&pipe->changed);
            continue;
        }
        if (any || pipe->ended) break;
        pthread_cond_wait(&pipe->changed, &pipe->mutex);
    }
    bool any = pipe->made != pipe->taken;
    mrd__pipe_batch *batch = &pipe->batches[pipe->taken % 2];
    *whole = pipe->whole;
    pthread_mutex_unlock(&pipe->mutex);
    if (!any) return 0;
    size_t left = batch->count - pipe->at, count = left < max ? left : max;
    memcpy(out, batch->items.data + pipe->at * pipe->item, count * pipe->item);
    pipe->at += count;
    return count;
}

void mrd__pipe_abandon(mrd__pipe *pipe)
{
    pthread_mutex_lock(&pipe->mutex);
    pipe->abandoned = true;
    pthread_cond_broadcast(&pipe->changed);
    pthread_mutex_unlock(&pipe->mutex);
}
