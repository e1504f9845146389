/* One run of an adapter: its process, its two pipes, and the one reader of both.
 *
 *   process exits ─► stdout and stderr are read to their ends ─► a last line without LF
 *                ─► the end, once
 *
 * All memory of a run is its own: the next generation starts with fresh buffers. A run's lines
 * carry its generation, so that whoever takes them can drop those of an older run (a process that
 * the old adapter left behind may still hold the pipe). Never called by two threads at once; times
 * are given in, no clock is read. */
#ifndef MRD_SESSION_SOURCES_CONNECTION_H
#define MRD_SESSION_SOURCES_CONNECTION_H

#include "session/sources/lines.h"
#include "session/sources/spawn.h"

enum {
    /* stderr that is kept of one run: a tool that repeats itself for an hour shows itself here. */
    MRD__DIAGNOSTICS_MAX = 64 << 10,
    /* Read at a time of one pipe: what a pipe holds by default. */
    MRD__READ_PIECE = 64 << 10,
};
/* After the process has ended, or was asked to, its pipes may stay open this long. */
#define MRD__DRAIN_NS UINT64_C(2000000000)

struct mrd__connection;

/* How a run ended. */
typedef struct mrd__connection_end {
    int wait_status; /* of waitpid */
    bool reaped;     /* else wait_status says nothing: it could not be ended in time */
    bool held;       /* the pipe was still open when waiting ended: what came later is lost */
} mrd__connection_end;

typedef struct mrd__connection_taker {
    void *ctx;
    /* A line of stdout, received at now_ns. Where connection->over it is a late one of a run that
     * has ended: to be counted, not taken. May wait for room: the pipe waits with it. */
    void (*line)(void *ctx, struct mrd__connection *connection, const mrd__line *line,
                 uint64_t now_ns);
    /* Once, after the last line. diagnostics: stderr, up to MRD__DIAGNOSTICS_MAX of it. */
    void (*end)(void *ctx, struct mrd__connection *connection, const mrd__connection_end *end,
                uint64_t now_ns);
} mrd__connection_taker;

typedef struct mrd__connection {
    size_t adapter;      /* the owner's number for it */
    uint64_t generation; /* from 1, of that adapter */
    mrd__child child;
    mrd__connection_taker taker;
    mrd__lines lines;
    mrd__buf diagnostics;
    uint64_t diagnostic_bytes; /* all of stderr */
    uint64_t now_ns;           /* of the reading that goes on */
    uint64_t ended_ns;         /* when the process was seen to have ended */
    int wait_status;
    bool reaped, asked, killed, over;
    bool stopped; /* set by the taker: the adapter said that it stops */
    uint64_t asked_ns;
} mrd__connection;

/* Start a run. line_limit: greatest line. Code no_shell. */
MRD_MUST_CHECK mrd_status mrd__connection_start(mrd__connection *connection, const char *command,
                                                size_t adapter, uint64_t generation,
                                                size_t line_limit,
                                                const mrd__connection_taker *taker,
                                                mrd_error *error);
/* Read what there is and see whether it is over. Call when a descriptor is readable and at least
 * every 100 ms once it was asked to stop or has ended. After the end it reads what still comes
 * from a pipe that somebody holds. */
void mrd__connection_step(mrd__connection *connection, uint64_t now_ns);
/* Ask it to stop: SIGTERM to its group now, SIGKILL when it still runs MRD__DRAIN_NS later. */
void mrd__connection_stop(mrd__connection *connection, uint64_t now_ns);
/* Frees; a run that is not over is killed, without an end. Accepts zeroed. */
void mrd__connection_close(mrd__connection *connection);

#endif
