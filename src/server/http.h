/* What a route sees of a request and how it answers. Nothing here knows libmicrohttpd, so a fuzzer
 * can call mrd__http_handle with bytes alone. */
#ifndef MRD_SERVER_HTTP_H
#define MRD_SERVER_HTTP_H

#include "base/error.h"
#include "base/text.h"

#define MRD__ARROW_TYPE "application/vnd.apache.arrow.stream"
#define MRD__HTTP_SEGMENTS 8 /* the longest route has six */

struct mrd__server;

typedef struct mrd__request {
    struct mrd__server *server;
    const char *method; /* GET, POST, DELETE, HEAD */
    mrd__str path;      /* raw, before '?' */
    mrd__str query;     /* raw, after '?' */
    const char *host, *origin, *accept, *authorization, *cookie, *content_type; /* or NULL */
    bool loopback; /* the peer is on this machine */
    mrd__buf body;
    mrd__str captures[MRD__HTTP_SEGMENTS]; /* the route's {…} segments, raw */
} mrd__request;

/* The rest of a body, made piece by piece while it goes out. */
typedef struct mrd__pull {
    void *ctx;
    /* Append a piece; *more is false after the last. A failure ends the answer without its end
     * marker. */
    mrd_status (*next)(void *ctx, mrd__buf *out, bool *more);
    void (*close)(void *ctx); /* once, when the answer is out or given up */
} mrd__pull;

typedef struct mrd__reply {
    unsigned status;
    const char *type; /* static Content-Type */
    mrd__buf body;
    const void *constant; /* embedded file instead of body, or NULL */
    size_t constant_size;
    mrd__pull pull;             /* what follows body, where close is not NULL */
    bool event_stream;          /* keep open and send events */
    bool task_stream;           /* of tasks, not of traces */
    mrd_session_follow *follow; /* of this session, owned; else NULL */
    bool cache;                 /* hashed page files never change */
    char set_cookie[160];
} mrd__reply;

/* Answer one request: checks, routing, handler. Always fills reply. Any thread. */
void mrd__http_handle(mrd__request *request, mrd__reply *reply);
void mrd__reply_reset(mrd__reply *reply);

/* Turn an error into its status and JSON body (spec event-trace.md section 3). */
void mrd__reply_error(mrd__reply *reply, const mrd_error *error);
/* The same for an error made here. */
void mrd__reply_fail(mrd__reply *reply, unsigned status, const char *code, const char *format, ...)
    MRD_PRINTF(4, 5);

/* Which form the client takes: false with 406 in reply when neither. */
bool mrd__http_negotiate(const mrd__request *request, mrd_format *format, mrd__reply *reply);
/* Parameters of the query string and, for POST, of the JSON body. Destroy params in any case. */
MRD_MUST_CHECK mrd_status mrd__http_params(const mrd__request *request, mrd_params **params,
                                           mrd_error *error);
/* Each line as one server-sent event, appended to out. */
void mrd__http_events(const mrd__buf *lines, mrd__buf *out);
/* A positive decimal integer segment. */
bool mrd__http_id(mrd__str segment, int64_t *out);

#endif
