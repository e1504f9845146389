/* Manifests: what their writer says of the files of a trace, as text and numbers. Where the files
 * are and what follows from it: open/plan.h. */
#ifndef MRD_OPEN_MANIFEST_H
#define MRD_OPEN_MANIFEST_H

#include "base/alloc.h"
#include "base/text.h"

#define MRD__MANIFEST_MAX_BYTES ((size_t)64 << 20) /* 10^5 files of some hundred bytes each */
#define MRD__MANIFEST_MAX_FILES 65536u

typedef struct mrd__manifest_machine {
    uint32_t id; /* as packets number it */
    char *name;
} mrd__manifest_machine;

/* Texts are owned, NULL where absent. */
typedef struct mrd__manifest_file {
    char *path;
    char *machine;                            /* the whole file belongs to it */
    MRD__VEC(mrd__manifest_machine) machines; /* excludes machine */
    bool has_sync;
    uint32_t clock; /* own clock to relate; 0: the file has one private clock */
    char *clock_machine;
    char *sync_file, *sync_machine;
    uint32_t sync_clock; /* 0: the private timeline of the reference */
    int64_t offset_ns;   /* when clock reads t, the reference reads t + offset_ns */
    bool linear;         /* interpolate between the file's snapshots */
} mrd__manifest_file;

typedef struct mrd__manifest_attribute {
    char *key, *text; /* an integer in decimal */
    bool number;
} mrd__manifest_attribute;

typedef struct mrd__manifest {
    const char *key; /* perfetto_manifest or meridian_manifest; static */
    bool has_trace_time;
    uint32_t trace_clock;
    char *trace_file, *trace_machine;
    MRD__VEC(mrd__manifest_file) files;
    MRD__VEC(mrd__manifest_attribute) attributes;
    bool global_flows;
    bool linear; /* of all files */
} mrd__manifest;

/* key as mrd__manifest_sniff tells it. MRD_ERR_FORMAT "bad_manifest": the JSON path, the value,
 * what is allowed. manifest is reset by the caller in any case. */
MRD_MUST_CHECK mrd_status mrd__manifest_read(mrd__manifest *manifest, const char *key,
                                             mrd__str text, mrd_error *error);
void mrd__manifest_reset(mrd__manifest *manifest);
/* "perfetto_manifest: PATH is VALUE, allowed is ...": the error of everything wrong in one. */
mrd_status mrd__manifest_fail(const mrd__manifest *manifest, mrd_error *error, const char *format,
                              ...) MRD_PRINTF(3, 4);

#endif
