/* Every limit of the server in one place, with its reason. */
#ifndef MRD_SERVER_LIMITS_H
#define MRD_SERVER_LIMITS_H

#define MRD__SERVER_REQUEST_LINE (64 * 1024) /* selections of thousands of components in a URL */
#define MRD__SERVER_CONNECTION_MEMORY (192 * 1024) /* request line, headers and reply headers */
#define MRD__SERVER_BODY (8 * 1024 * 1024) /* POST bodies: the longest lists of components */
#define MRD__SERVER_CONNECTIONS 256        /* one thread each */
#define MRD__SERVER_STREAMS 64     /* event streams stay open: keep connections for questions */
#define MRD__SERVER_ACTIVE 32      /* answers being made at once: bounds memory (<= 16 MiB each) */
#define MRD__SERVER_QUERIES 8      /* SQL statements at once: each may use all cores */
#define MRD__SERVER_QUERY_MS 60000 /* a statement longer than this is stopped */
#define MRD__SERVER_TIMEOUT_S 60   /* an idle or stuck peer gives its thread back */
#define MRD__SERVER_HEARTBEAT_MS 5000 /* event streams: how soon a gone client is noticed */
#define MRD__SERVER_CACHE_FROM (4u * 1024 * 1024) /* bytes of a trace's files: less opens at once */
#define MRD__SERVER_TRACES 64                     /* open traces a server holds */
#define MRD__SERVER_SESSION_NAME 200 /* of a session's folder; file systems allow 255 */
#define MRD__SERVER_PATHS 1024       /* files of one trace */
#define MRD__SERVER_RECORDINGS 4     /* at once: each reads /proc and syncs a disk all the time */
#define MRD__SERVER_FAILED 16        /* recordings that failed, told with the list of sessions */
#define MRD__SERVER_EVERY_MS 100     /* of a recording: readings, ticks; the defaults of record */
#define MRD__SERVER_PUBLISH_MS 1000
#define MRD__SERVER_EVERY_MS_MIN 10 /* CPU time comes in ticks of 10 ms */
#define MRD__SERVER_EVERY_MS_MAX 60000
#define MRD__SERVER_PUBLISH_MS_MIN 100 /* a page draws no faster */
#define MRD__SERVER_PUBLISH_MS_MAX 60000
#define MRD__SERVER_DURATION_MS_MIN 1000
#define MRD__SERVER_DURATION_MS_MAX 86400000 /* a day: a forgotten one must not fill the disk */
#define MRD__SERVER_SEALING_MS 30000 /* how long a stop waits for the seal: half of a timeout */
#define MRD__SERVER_RESULT_TRACES 8  /* traces of results kept open, least recently used out */
#define MRD__SERVER_BODIES 4 /* memory of large replies kept, as many as often run at once */
/* Of one such memory, bytes. First: room for the usual large answer at once, since growing would
 * copy it again and again; pages that stay untouched cost nothing. */
#define MRD__SERVER_BODY_FIRST (8 * 1024 * 1024)
#define MRD__SERVER_BODY_LEAST (256 * 1024)      /* a smaller one is made anew as quickly */
#define MRD__SERVER_BODY_MOST (16 * 1024 * 1024) /* no usual answer is larger */

#endif
