/* What is asked of a stored session, for the joining layer above: no type of the file format. dir
 * is DIR; where only DIR.open is there, that is read. */
#ifndef MRD_SESSION_SESSION_H
#define MRD_SESSION_SESSION_H

#include "base/text.h"

/* ---- Samples ---- */

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
/* The samples that select names, in order (thinned ones: in the order of their sequence). select
 * may be NULL: all. A status of fn's ends it and is returned. A session without metrics.mrl (being
 * recorded, or what a crash left) is computed from raw. Codes no_session, damaged, definitions. */
MRD_MUST_CHECK mrd_status mrd__session_samples(const char *dir, const mrd_session_select *select,
                                               mrd__sample_fn fn, void *ctx, mrd_error *error);

/* ---- Texts ---- */

/* TEXT or JSON of what verifying, replaying and recovering found. */
MRD_MUST_CHECK mrd_status mrd__session_tell_verify(const char *dir, bool json, mrd__buf *out,
                                                   bool *sound, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__session_tell_replay(const char *dir, bool json, mrd__buf *out,
                                                   bool *equal, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__session_tell_recover(const char *dir, bool json, mrd__buf *out,
                                                    mrd_error *error);
/* The report. Of a sealed session JSON is the stored bytes; the other forms are made from raw, and
 * refused where that does not give the stored report: MRD_ERR_FORMAT "report_differs". Of another
 * session all forms are of what there is by now. */
MRD_MUST_CHECK mrd_status mrd__session_tell_report(const char *dir, mrd_report_form form,
                                                   mrd__buf *out, mrd_error *error);
/* JSON: see mrd_session_info, mrd_session_list, mrd_session_raw. */
MRD_MUST_CHECK mrd_status mrd__session_tell_info(const char *dir, bool whole, mrd__buf *out,
                                                 mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__session_tell_list(const char *root, mrd__buf *out, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__session_tell_raw(const char *dir, uint64_t sequence, bool json,
                                                mrd__buf *out, mrd_error *error);

#endif
