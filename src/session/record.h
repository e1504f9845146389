/* Recording live sources: one loop, one thread, one reader a connection.
 *
 * Four rhythms: sources are read every `every_ns`, adapters when they print, each event goes
 * through the engine at once, and the publisher ticks every `publish_ns`. */
#ifndef MRD_SESSION_RECORD_H
#define MRD_SESSION_RECORD_H

#include "meridian.h"

#include <sys/types.h>

enum {
    MRD__ADAPTERS_MAX = 16, /* each holds three descriptors and a place in every poll */
};

/* Record until told to stop, the target ends, or the time is over; then seal. options and progress
 * as meridian.h has them. Codes: see mrd_session_record. */
MRD_MUST_CHECK mrd_status mrd__session_record(const mrd_record_options *options,
                                              mrd_record_result *result, mrd_error *error);
/* Take in a file of lines: envelopes, or what an adapter printed. Host times are those of the
 * lines; no tick is added. */
MRD_MUST_CHECK mrd_status mrd__session_ingest(const char *input, const char *dir,
                                              mrd_record_result *result, mrd_error *error);

#endif
