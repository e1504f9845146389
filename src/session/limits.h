/* The limits of recording sessions, each with its reason. */
#ifndef MRD_SESSION_LIMITS_H
#define MRD_SESSION_LIMITS_H

/* A segment ends at 64 MiB or 10 minutes: what one damage can touch, and one lookup must read. */
#define MRD__SEGMENT_BYTES ((uint64_t)64 << 20)
#define MRD__SEGMENT_NS ((uint64_t)600 * 1000000000)
/* A sync at the latest so long after a record, or so many records: what a power cut may take. While
 * a sync runs (some ms) more come in; they go together into the next. */
#define MRD__SYNC_NS ((uint64_t)250 * 1000000)
#define MRD__SYNC_RECORDS 256
/* ... or so many bytes: they are kept in memory until they are synced, to be written again; twice
 * as many where the next are encoded meanwhile. */
#define MRD__SYNC_BYTES ((size_t)4 << 20)
/* Of a backlog so much is written before the next is encoded: while it is in the cache, and so that
 * the disk works meanwhile. */
#define MRD__WRITE_AHEAD_BYTES ((size_t)512 << 10)
/* Syncs that fail one after the other before the writer stops and says so. */
#define MRD__SYNC_FAILURES 3
#define MRD__CHECKPOINT_RECORDS 4096
/* Bytes between readers and the writer: 16 ms of the largest rate seen, 16 largest records. */
#define MRD__INGRESS_BYTES ((size_t)16 << 20)
#define MRD__INGRESS_BYTES_MIN ((size_t)4096)
#define MRD__INGRESS_BYTES_MAX ((size_t)1 << 30)
/* How often a writer with something to do looks: batches, not a wake-up a record. */
#define MRD__WRITER_TICK_NS ((uint64_t)5 * 1000000)
#define MRD__SEGMENTS_MAX 100000u /* 6.4 TB; names have six digits */
/* Manifests hold one entry a segment (300 bytes); reports are one page. */
#define MRD__DOCUMENT_MAX ((size_t)256 << 20)
/* Ranges of missing sequences that are told one by one. */
#define MRD__MISSING_MAX 1024

#endif
