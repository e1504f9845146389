/* What every request shares. Immutable after start but for what guards itself. */
#ifndef MRD_SERVER_CONTEXT_H
#define MRD_SERVER_CONTEXT_H

#include "meridian.h"
#include "server/traces.h"

typedef struct mrd__server_context {
    char address[80]; /* as in the Host header: 127.0.0.1, [::1], a name */
    uint16_t port;
    char *token; /* or NULL */
    mrd__traces *traces;
    mrd_results *results;               /* or NULL without a data folder */
    char *data_dir;                     /* or NULL */
    struct mrd__recordings *recordings; /* or NULL without a data folder */
} mrd__server_context;

struct mrd__server;
mrd__server_context *mrd__server_context_of(struct mrd__server *server);

#endif
