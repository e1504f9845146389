#include "session/sources/connection.h"

#include "base/alloc.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

/* Pieces read at one step: other sources get their turn beside an adapter that floods. */
enum {
    PIECES_AT_A_STEP = 16
};

mrd_status mrd__connection_start(mrd__connection *connection, const char *command, size_t adapter,
                                 uint64_t generation, size_t line_limit,
                                 const mrd__connection_taker *taker, mrd_error *error)
{
    *connection = (mrd__connection){.adapter = adapter, .generation = generation, .taker = *taker};
    mrd__lines_init(&connection->lines, line_limit);
    mrd_status status = mrd__spawn_shell(&connection->child, command, error);
    if (status != MRD_OK) connection->over = true;
    return status;
}

static bool take_line(void *ctx, const mrd__line *line)
{
    mrd__connection *connection = ctx;
    connection->taker.line(connection->taker.ctx, connection, line, connection->now_ns);
    return true;
}

/* One piece of a pipe: above 0 bytes read, 0 nothing there now, below 0 its end. */
static ssize_t read_piece(int *fd, char *piece)
{
    ssize_t got;
    do {
        got = read(*fd, piece, MRD__READ_PIECE);
    } while (got < 0 && errno == EINTR);
    if (got > 0) return got;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
    close(*fd);
    *fd = -1;
    return -1;
}

static void read_errors(mrd__connection *connection, char *piece)
{
    for (int i = 0; i < PIECES_AT_A_STEP && connection->child.err >= 0; i++) {
        ssize_t got = read_piece(&connection->child.err, piece);
        if (got <= 0) return;
        size_t room = MRD__DIAGNOSTICS_MAX - connection->diagnostics.size;
        connection->diagnostic_bytes += (uint64_t)got;
        mrd__buf_add(&connection->diagnostics, piece, (size_t)got < room ? (size_t)got : room);
    }
}

static void read_lines(mrd__connection *connection, char *piece)
{
    for (int i = 0; i < PIECES_AT_A_STEP && connection->child.out >= 0; i++) {
        ssize_t got = read_piece(&connection->child.out, piece);
        if (got <= 0) return;
        mrd__lines_feed(&connection->lines, piece, (size_t)got, take_line, connection);
    }
}

static void finish(mrd__connection *connection, bool held)
{
    mrd__lines_end(&connection->lines, take_line, connection);
    connection->over = true;
    mrd__connection_end end = {
        .wait_status = connection->wait_status,
        .reaped = connection->reaped,
        .held = held,
    };
    connection->taker.end(connection->taker.ctx, connection, &end, connection->now_ns);
}

static void watch_process(mrd__connection *connection)
{
    if (!connection->reaped && mrd__child_ended(&connection->child, &connection->wait_status)) {
        connection->reaped = true;
        connection->ended_ns = connection->now_ns;
    }
    bool late = connection->asked && connection->now_ns - connection->asked_ns > MRD__DRAIN_NS;
    if (late && !connection->reaped && !connection->killed) {
        connection->killed = true;
        mrd__child_signal(&connection->child, SIGKILL, true);
    }
}

void mrd__connection_step(mrd__connection *connection, uint64_t now_ns)
{
    connection->now_ns = now_ns;
    /* The process first: what it wrote before it ended is then in the pipes already. */
    if (!connection->over) watch_process(connection);
    char *piece = mrd__alloc(MRD__READ_PIECE);
    read_lines(connection, piece);
    read_errors(connection, piece);
    mrd__free(piece);
    if (connection->over) return;
    bool drained = connection->child.out < 0 && connection->child.err < 0;
    if (connection->reaped) {
        bool held = now_ns - connection->ended_ns > MRD__DRAIN_NS;
        if (drained || held) finish(connection, !drained);
    } else if (connection->killed && now_ns - connection->asked_ns > 2 * MRD__DRAIN_NS) {
        finish(connection, true); /* even SIGKILL did not end it: it hangs in the kernel */
    }
}

void mrd__connection_stop(mrd__connection *connection, uint64_t now_ns)
{
    if (connection->over || connection->asked) return;
    connection->asked = true;
    connection->asked_ns = now_ns;
    mrd__child_signal(&connection->child, SIGTERM, true);
}

void mrd__connection_close(mrd__connection *connection)
{
    if (connection->taker.line == NULL) return; /* zeroed */
    mrd__child_close(&connection->child, true);
    mrd__lines_reset(&connection->lines);
    mrd__buf_reset(&connection->diagnostics);
    connection->over = true;
}
