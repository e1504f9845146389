/* Reading a mapped file that somebody cuts short raises SIGBUS in the reading thread. Inside a
 * guarded read that becomes a result; anywhere else it stays what it is, a crash. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/os.h"

static _Thread_local sigjmp_buf *landing;
static pthread_once_t installed = PTHREAD_ONCE_INIT;

static void on_bus_error(int number)
{
    if (landing) {
        /* The jump does not give back what delivery blocked. */
        sigset_t blocked;
        sigemptyset(&blocked);
        sigaddset(&blocked, number);
        pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
        siglongjmp(*landing, 1);
    }
    signal(number, SIG_DFL); /* returning runs the instruction again, now fatally */
}

static void install(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_bus_error;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

bool mrd__map_guarded(void (*body)(void *ctx), void *ctx)
{
    sigjmp_buf here;
    pthread_once(&installed, install);
    mrd__assert(!landing);
    if (sigsetjmp(here, 0) != 0) {
        landing = NULL;
        return false;
    }
    landing = &here;
    body(ctx);
    landing = NULL;
    return true;
}
