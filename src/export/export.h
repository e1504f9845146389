/* Plain rows, summaries and generated traces out of a store. */
#ifndef MRD_EXPORT_EXPORT_H
#define MRD_EXPORT_EXPORT_H

#include "model/store.h"

/* `dump --table` (spec cli.md): CSV or JSON lines. MRD_ERR_ARGUMENT bad_table lists the tables. */
MRD_MUST_CHECK mrd_status mrd__export_dump(const mrd__store *store, const char *table,
                                           mrd_format format, const mrd_sink *sink,
                                           mrd_error *error);
/* `info`: TEXT or JSON (spec cli.md). */
MRD_MUST_CHECK mrd_status mrd__export_info(const mrd__store *store, mrd_format format,
                                           const mrd_sink *sink, mrd_error *error);
/* `clocks`: TEXT or JSON. */
MRD_MUST_CHECK mrd_status mrd__export_clocks(const mrd__store *store, mrd_format format,
                                             const mrd_sink *sink, mrd_error *error);
/* bounds, view, counts, losses for the page (meridian.h, mrd_trace_summary). */
MRD_MUST_CHECK mrd_status mrd__export_summary(const mrd__store *store, const mrd_sink *sink,
                                              mrd_error *error);
/* Deterministic generators (meridian.h). The event trace is written through src/events. */
MRD_MUST_CHECK mrd_status mrd__gen_event_trace(const char *path, uint64_t events, uint64_t seed,
                                               mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__gen_chrome_json(const mrd_sink *sink, uint64_t events, uint64_t seed,
                                               mrd_error *error);

#endif
