/* What is asked of a stored session, for the joining layer above: no type of the file format. */
#ifndef MRD_SESSION_SESSION_H
#define MRD_SESSION_SESSION_H

#include "base/text.h"

/* One stored sample. Texts are borrowed until the next row. */
typedef struct mrd__sample_row {
    uint64_t sequence; /* lastRawSequence */
    mrd__str metric, unit, source, key;
    const char *quality;
    bool present, integer; /* it has a value; the value is whole */
    int64_t whole;
    double value; /* present: also where it is whole */
    bool has_time;
    int64_t time_ns; /* of the host's monotonic clock */
} mrd__sample_row;

typedef mrd_status (*mrd__sample_fn)(void *ctx, const mrd__sample_row *row, mrd_error *error);
/* All samples of DIR (or DIR.open) in order. A status of fn's ends it and is returned. Codes
 * no_session, no_such_file (not derived yet: recover it), damaged. */
MRD_MUST_CHECK mrd_status mrd__session_samples(const char *dir, mrd__sample_fn fn, void *ctx,
                                               mrd_error *error);

/* TEXT or JSON of what verifying, replaying and recovering found. */
MRD_MUST_CHECK mrd_status mrd__session_tell_verify(const char *dir, bool json, mrd__buf *out,
                                                   bool *sound, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__session_tell_replay(const char *dir, bool json, mrd__buf *out,
                                                   bool *equal, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__session_tell_recover(const char *dir, bool json, mrd__buf *out,
                                                    mrd_error *error);
/* report.json as it is stored. Codes no_session, no_such_file. */
MRD_MUST_CHECK mrd_status mrd__session_stored_report(const char *dir, mrd__buf *out,
                                                     mrd_error *error);

#endif
