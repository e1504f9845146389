/* The manifest and the seal as read back. */
#ifndef MRD_SESSION_MANIFEST_H
#define MRD_SESSION_MANIFEST_H

#include "session/entry.h"

typedef struct mrd__sealed {
    uint8_t uuid[16];
    mrd__entries entries;      /* counts only of raw types; those of derived files are in total */
    MRD__VEC(uint64_t) totals; /* records of each entry */
    uint8_t merkle_root[32];
    uint64_t records, sequences;
    bool completed;
    char reasons[512]; /* "; " between */
} mrd__sealed;

/* MRD_ERR_FORMAT "bad_manifest" naming the member; MRD_ERR_UNSUPPORTED "version". out is to be
 * reset after MRD_OK alone. */
MRD_MUST_CHECK mrd_status mrd__sealed_parse(mrd__sealed *out, mrd__str text, mrd_error *error);
void mrd__sealed_reset(mrd__sealed *manifest);
/* True when seal is, byte for byte, the seal of this manifest. Else *file is the one of the two
 * that was changed, as far as can be told (a changed manifest changes half of its hash), and
 * *from, *to the range. */
bool mrd__seal_fits(mrd__str seal, mrd__str text, const mrd__sealed *manifest, const char **file,
                    uint64_t *from, uint64_t *to);
/* The uuid of a session.json. */
MRD_MUST_CHECK mrd_status mrd__identity_parse(mrd__str text, uint8_t uuid[16], mrd_error *error);

#endif
