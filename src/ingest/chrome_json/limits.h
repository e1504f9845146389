/* Limits of the Chrome JSON reader. What passes them is counted as a loss; the file still opens. */
#ifndef MRD_INGEST_CHROME_JSON_LIMITS_H
#define MRD_INGEST_CHROME_JSON_LIMITS_H

#include "base/json.h"

/* Nesting of args, the args object being level 1. Real traces reach 10; readers of args walk
 * without recursion but keep one bit a level, and nobody can look at more. */
#define MRD__CJ_MAX_ARGS_DEPTH MRD__JSON_MAX_DEPTH
/* One string. The longest seen in real traces (embedded scripts) is below 2 MiB. */
#define MRD__CJ_MAX_STRING ((size_t)16 << 20)
/* One event or top-level value: bounds what a streaming reader keeps in memory. */
#define MRD__CJ_MAX_EVENT ((size_t)64 << 20)
/* After a syntax error a candidate for the next event must show its "ph" within this many bytes;
 * bounds the search in hostile text, where each of many candidates would be read to the end. */
#define MRD__CJ_RESYNC_WINDOW ((size_t)1 << 20)
/* Flattened top-level values: enough for every header seen (the largest has 400 leaves), small
 * enough to be shown. */
#define MRD__CJ_MAX_METADATA_ROWS 4096
#define MRD__CJ_MAX_METADATA_VALUE ((size_t)64 << 10)
/* Top-level keys remembered to find those that stand twice: each new one is compared with all. */
#define MRD__CJ_MAX_TOP_KEYS 1024
/* Bytes of a chunk of the parallel reader: it is copied, scanned and parsed, so it should stay in
 * the second-level cache. */
#define MRD__CJ_CHUNK ((size_t)256 << 10)
/* What is copied beyond a chunk for the event that reaches over its end; a longer one is looked at
 * where it is mapped. */
#define MRD__CJ_AHEAD ((size_t)8 << 10)
/* Bytes inflated at a time: small enough to stay in the second-level cache. */
#define MRD__CJ_PIECE ((size_t)256 << 10)
/* Time between calls of the progress function: at most 20 a second. */
#define MRD__CJ_PROGRESS_NS 50000000u
/* Bytes the serial reader takes between two looks at the clock. */
#define MRD__CJ_TICK ((size_t)8 << 20)
/* Below this size a file is read by one thread: starting others costs more than they save. */
#define MRD__CJ_PARALLEL_MIN ((size_t)1 << 20)
/* Blanks before a chunk that are looked through for the comma of its first event. */
#define MRD__CJ_MAX_BLANKS ((size_t)256)
/* How far behind its chunk the "ph" of a guessed event may stand: a screenshot has 100 KB. */
#define MRD__CJ_GUESS_AHEAD ((size_t)1 << 20)
/* A border inside a longer run of backslashes is left to the serial reader. */
#define MRD__CJ_MAX_BACKSLASHES ((size_t)64 << 10)

#endif
