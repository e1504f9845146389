#include "duck/ticket.h"

#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mrd__ticket *tickets;
static int64_t last_number;

void mrd__ticket_take(mrd__ticket *ticket, mrd__ticket_kind kind, void *owner)
{
    pthread_mutex_lock(&lock);
    *ticket = (mrd__ticket){tickets, ++last_number, kind, owner};
    tickets = ticket;
    pthread_mutex_unlock(&lock);
}

void mrd__ticket_drop(mrd__ticket *ticket)
{
    pthread_mutex_lock(&lock);
    mrd__ticket **at = &tickets;
    while (*at != ticket)
        at = &(*at)->next;
    *at = ticket->next;
    pthread_mutex_unlock(&lock);
}

void *mrd__ticket_owner(int64_t number, mrd__ticket_kind kind)
{
    pthread_mutex_lock(&lock);
    mrd__ticket *at = tickets;
    while (at != NULL && (at->number != number || at->kind != kind))
        at = at->next;
    void *owner = at ? at->owner : NULL;
    pthread_mutex_unlock(&lock);
    return owner;
}
