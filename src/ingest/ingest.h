/* The registry of formats: one folder and one table row each.
 *
 * An importer recognizes its format on a bounded prefix and writes facts of a file through the
 * writer. Detection asks importers in priority order; the first yes wins. */
#ifndef MRD_INGEST_INGEST_H
#define MRD_INGEST_INGEST_H

#include "model/writer.h"

#define MRD__SNIFF_BYTES 65536 /* enough for any header; gz prefixes inflate to at most this */

typedef struct mrd__import {
    const char *path;
    const char *data_path; /* where the bytes can be opened, of a member of an archive; else NULL */
    mrd__map *map; /* the whole file; an importer that hands it to mrd__writer_add_file moves
                           it (map->data becomes NULL here) */
    mrd__writer *writer;
    uint32_t threads;         /* at least 1 */
    mrd_progress_fn progress; /* may be NULL */
    void *progress_ctx;
} mrd__import;

typedef struct mrd__importer {
    const char *name; /* static, as info prints it: chrome_json, event_parquet */
    const char *what; /* for the refusal list: "Chrome Trace Event JSON (array or object)" */
    int priority;     /* unique, lower first */
    bool by_path;     /* reads data_path, not the map */
    /* Required. head is a prefix of at most MRD__SNIFF_BYTES (of the inflated text for gz). */
    bool (*sniff)(const char *head, size_t size);
    /* Required. Adds its file to the writer and writes its facts. */
    mrd_status (*read)(mrd__import *in, mrd_error *error);
} mrd__importer;

/* NULL-terminated, sorted by priority. */
extern const mrd__importer *const mrd__importers[];

/* The importer for a file's prefix, or NULL: MRD_ERR_FORMAT "unknown_format" names the file and
 * lists the formats asked. gz is looked into. */
MRD_MUST_CHECK mrd_status mrd__ingest_detect(const char *path, const char *head, size_t size,
                                             const mrd__importer **out, mrd_error *error);

/* Gzip (RFC 1952, any number of members, zero padding ignored and counted): src/ingest/gzip.c. */
bool mrd__is_gzip(const char *head, size_t size);

#endif
