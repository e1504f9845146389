#include "server/body.h"

#include <pthread.h>

#include "base/assert.h"
#include "server/limits.h"

#define TOUCH_STEP 4096 /* no page is smaller */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mrd__buf shelf[MRD__SERVER_BODIES];
static size_t shelf_count;

void mrd__body_take(mrd__buf *body)
{
    mrd__assert(!body->data);
    pthread_mutex_lock(&lock);
    if (shelf_count > 0) *body = shelf[--shelf_count];
    pthread_mutex_unlock(&lock);
    if (body->data)
        mrd__buf_clear(body);
    else
        mrd__buf_reserve(body, MRD__SERVER_BODY_FIRST);
}

void mrd__body_give(mrd__buf *body)
{
    mrd__buf drop = *body;
    *body = (mrd__buf){0};
    if (drop.capacity >= MRD__SERVER_BODY_LEAST && drop.capacity <= MRD__SERVER_BODY_MOST) {
        pthread_mutex_lock(&lock);
        if (shelf_count < MRD__SERVER_BODIES) {
            shelf[shelf_count++] = drop;
            drop = (mrd__buf){0};
        }
        pthread_mutex_unlock(&lock);
    }
    mrd__buf_reset(&drop);
}

void mrd__body_warm(void)
{
    mrd__buf body = {0};
    mrd__body_take(&body);
    for (size_t at = 0; at < body.capacity; at += TOUCH_STEP)
        *((volatile char *)body.data + at) = 0;
    mrd__body_give(&body);
}
