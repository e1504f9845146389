/* Files in, one sealed store out: the only place where ingest, clock and pairing meet. */
#ifndef MRD_OPEN_OPEN_H
#define MRD_OPEN_OPEN_H

#include "model/store.h"

/* Unpack, detect, read and seal. All or nothing. options may be NULL. */
MRD_MUST_CHECK mrd_status mrd__open(const char *const *paths, size_t count,
                                    const mrd_open_options *options, mrd__store **out,
                                    mrd_error *error);

#endif
