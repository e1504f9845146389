/* The HTTP server: routes over meridian.h, the embedded page, progress as server-sent events. */
#ifndef MRD_SERVER_SERVER_H
#define MRD_SERVER_SERVER_H

#include "meridian.h"

typedef struct mrd__server_options {
    const char *listen;    /* ADDRESS:PORT, port 0 picks one; NULL: 127.0.0.1:0 */
    const char *data_dir;  /* result store and the folder whose files may be opened; may be NULL */
    const char *store_url; /* NULL: data_dir/meridian.db */
    const char *const *paths; /* opened at start as one trace; may be NULL */
    size_t path_count;
    const char *token;           /* required where listen is not loopback; may be NULL */
    uint32_t threads;            /* for opening traces; 0: one per core */
    const mrd_open_options *how; /* of paths: manifest, align, interpolation; may be NULL */
    bool no_cache;     /* do not keep traces or open kept ones (meridian.h, mrd_trace_cache) */
    bool verify_cache; /* hash them whole before they are taken */
    bool open_browser; /* start the desktop's browser on the page */
} mrd__server_options;

/* Serve until SIGINT or SIGTERM, then stop gracefully: running answers end, streams are closed.
 * Prints one line "listening on http://ADDRESS:PORT" to stdout once requests are answered.
 * Once per process at a time. */
MRD_MUST_CHECK mrd_status mrd__server_run(const mrd__server_options *options, mrd_error *error);

/* For tests and fuzzers: a server without signals. port receives the bound port. */
typedef struct mrd__server mrd__server;
MRD_MUST_CHECK mrd_status mrd__server_start(const mrd__server_options *options, mrd__server **out,
                                            uint16_t *port, mrd_error *error);
void mrd__server_stop(mrd__server **server);

#endif
