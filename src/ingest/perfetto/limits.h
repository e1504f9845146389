/* Limits of the Perfetto importer; what passes them is counted as a loss. */
#ifndef MRD_INGEST_PERFETTO_LIMITS_H
#define MRD_INGEST_PERFETTO_LIMITS_H

/* One packet, as the format itself bounds its messages (2 GiB is what lengths of int32 hold; real
 * packets stay below some MiB). Bounds a compressed packet's inflated size as well. */
#define MRD__PF_MAX_PACKET ((size_t)512 << 20)
/* Compressed packets do not nest in what is written today; one level more is allowed. */
#define MRD__PF_MAX_COMPRESSED 2
/* Levels of debug annotations: readers of args go as deep. */
#define MRD__PF_MAX_ANNOTATIONS 100
/* Levels of JSON text inside an annotation: with the annotations' own they stay below what readers
 * of args walk. */
#define MRD__PF_MAX_JSON 256
/* Parents above a track, as in the original. */
#define MRD__PF_MAX_PARENTS 100
/* Flow ids and extra counters of one event: real ones have a few (the original takes 8). */
#define MRD__PF_MAX_LIST 64
/* Facts of one chunk: sealing shares out whole chunks. */
#define MRD__PF_CHUNK 65536
/* One text and one event's args; longer ones are dropped and counted. */
#define MRD__PF_MAX_TEXT ((size_t)16 << 20)
/* Bytes inflated at a time, and of a gzip file in all: it is kept in memory while it is walked. */
#define MRD__PF_PIECE ((size_t)1 << 20)
#define MRD__PF_MAX_INFLATED ((size_t)8 << 30)
/* Descriptors of typed fields: Chrome's have 1,600 fields and values, 60 KB of names. */
#define MRD__PF_MAX_SCHEMA 262144
#define MRD__PF_MAX_SCHEMA_TEXT ((size_t)16 << 20)
#define MRD__PF_MAX_SCHEMAS 1024
#define MRD__PF_MAX_TYPE_NAME 1024
#define MRD__PF_MAX_FIELD ((1u << 29) - 1) /* the format's own */
/* Bytes between two calls of the progress function. */
#define MRD__PF_TICK ((size_t)8 << 20)

#endif
