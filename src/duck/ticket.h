/* What our functions inside DuckDB work on. Functions belong to the database and cannot be taken
 * out again, so there is one of each kind, registered when the database opens; a ticket, a number
 * that is valid while its owner's call lasts, tells which call it works for. */
#ifndef MRD_DUCK_TICKET_H
#define MRD_DUCK_TICKET_H

#include <stdint.h>

typedef enum mrd__ticket_kind {
    MRD__TICKET_ROWS,
    MRD__TICKET_TAKE
} mrd__ticket_kind;

typedef struct mrd__ticket {
    struct mrd__ticket *next;
    int64_t number;
    mrd__ticket_kind kind;
    void *owner;
} mrd__ticket;

/* Thread-safe. A ticket lives in its owner's frame. */
void mrd__ticket_take(mrd__ticket *ticket, mrd__ticket_kind kind, void *owner);
void mrd__ticket_drop(mrd__ticket *ticket);
/* The owner, or NULL where the number is nobody's of that kind. */
void *mrd__ticket_owner(int64_t number, mrd__ticket_kind kind);

#endif
