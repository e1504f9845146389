/* Inputs: the files that were asked for, archives unpacked, each with the importer that knows it,
 * in the order in which they count:
 *
 *   archive first, then its members      outer.zip
 *   of siblings: the manifest,             outer.zip/meridian.json
 *     Perfetto files, archives,            outer.zip/host.pftrace
 *     the rest; by name                    outer.zip/inner.tar
 *                                            outer.zip/inner.tar/rank-0.json
 *                                          outer.zip/rank-1.json
 *
 * The order in which the arguments were given is nowhere in it. A compressed file (x.json.zst) is
 * one input: the file inside. */
#ifndef MRD_INGEST_INPUTS_H
#define MRD_INGEST_INPUTS_H

#include "ingest/ingest.h"

/* Inputs of one trace that are read: an args reference has 15 bits for a file, and for a block of
 * text, of which a file may need several. */
#define MRD__INPUTS_MAX 8192u

#define MRD__MANIFEST_TEXT "(manifest)"

typedef struct mrd__input_loss {
    mrd__loss_id id;
    uint64_t count;
    int64_t offset;
    char *text; /* owned */
} mrd__input_loss;

typedef struct mrd__input {
    char *path;         /* outer.zip/inner.json */
    const char *member; /* its name in its archive, inside path; NULL: a file that was asked for */
    uint32_t parent;    /* index of its archive or MRD__NONE */
    uint32_t position;  /* among its siblings as they were given */
    uint32_t root;      /* index of the file that was asked for: itself or the outermost archive */
    const char *format; /* static: chrome_json, zip, perfetto_manifest, unknown, ... */
    const mrd__importer *importer; /* NULL: nothing to read */
    bool container, manifest;
    mrd__map map;   /* its bytes; of containers and unknown ones closed */
    uint64_t bytes; /* of the file, or of the member unpacked */
    MRD__VEC(mrd__input_loss) losses;
} mrd__input;
/* True when its bytes are compressed or an archive. */
bool mrd__input_is_packed(const mrd__input *input);

typedef struct mrd__inputs {
    MRD__VEC(mrd__input) list;
} mrd__inputs;

/* The files of paths, unpacked, and a manifest given as text (NULL: none), which stands as a file
 * of the name MRD__MANIFEST_TEXT. threads at least 1. Fails with what opening a file fails with,
 * with MRD_ERR_FORMAT "unknown_format" for a file nobody knows and for an archive without any
 * trace, "bad_archive", and with MRD_ERR_LIMIT. out is reset by the caller in any case. */
MRD_MUST_CHECK mrd_status mrd__inputs_open(const char *const *paths, size_t count,
                                           const char *manifest_text, uint32_t threads,
                                           mrd__inputs *out, mrd_error *error);
/* The same of bytes in memory, taken from map, and with another limit of unpacked bytes (0: the
 * limit): what tests and fuzzers ask. */
MRD_MUST_CHECK mrd_status mrd__inputs_of(mrd__map *map, const char *path, uint64_t max_bytes,
                                         uint32_t threads, mrd__inputs *out, mrd_error *error);
void mrd__inputs_reset(mrd__inputs *inputs);

/* Is this a manifest: an object whose first key is perfetto_manifest or meridian_manifest? Returns
 * that key, NULL otherwise. Static. */
const char *mrd__manifest_sniff(const char *head, size_t size);

#endif
