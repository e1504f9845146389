/* Following a session that is being recorded: looks into its files, and waits in between. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/os.h"
#include "session/follow.h"

#include <time.h>

/* Files are looked at so often: a recorder writes them four times a second. */
#define LOOK_NS UINT64_C(100000000)

struct mrd_session_follow {
    mrd__follow *follow;
    mrd__buf text;
    bool over; /* the end, or an error, was told */
};

mrd_status mrd_session_follow_open(const char *dir, mrd_session_follow **out, mrd_error *error)
{
    mrd__assert(dir != NULL && out != NULL);
    mrd__follow *follow;
    mrd_status status = mrd__follow_open(dir, &follow, error);
    if (status != MRD_OK) return status;
    *out = mrd__new(mrd_session_follow);
    (*out)->follow = follow;
    return MRD_OK;
}

void mrd_session_follow_close(mrd_session_follow **follow)
{
    mrd_session_follow *f = *follow;
    if (f == NULL) return;
    mrd__follow_close(&f->follow);
    mrd__buf_reset(&f->text);
    mrd__free(f);
    *follow = NULL;
}

mrd_status mrd_session_follow_next(mrd_session_follow *f, unsigned timeout_ms, bool *open,
                                   const mrd_sink *sink, mrd_error *error)
{
    mrd__assert(f != NULL && open != NULL && sink != NULL);
    uint64_t until = mrd__monotonic_ns() + timeout_ms * UINT64_C(1000000);
    *open = false;
    while (!f->over) {
        mrd_status status = mrd__follow_read(f->follow, open, &f->text, error);
        f->over = status != MRD_OK || !*open;
        if (status != MRD_OK) return status;
        if (f->text.size > 0 || !*open) return mrd__buf_flush(&f->text, sink, error);
        uint64_t now = mrd__monotonic_ns();
        if (now >= until) return MRD_OK;
        uint64_t wait = until - now < LOOK_NS ? until - now : LOOK_NS;
        struct timespec pause = {.tv_nsec = (long)wait};
        nanosleep(&pause, NULL);
    }
    return MRD_OK;
}
