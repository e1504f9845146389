/* The traces a server holds: opened in the background, shared by requests, closed when the last
 * user lets go. */
#ifndef MRD_SERVER_TRACES_H
#define MRD_SERVER_TRACES_H

#include "base/error.h"
#include "base/text.h"

typedef struct mrd__traces mrd__traces;
typedef struct mrd__trace_slot mrd__trace_slot;

mrd__traces *mrd__traces_create(uint32_t threads, bool cache, bool verify_cache);
/* Cancels what is still opening and waits for it; no request may be inside. */
void mrd__traces_destroy(mrd__traces **traces);

/* Files under this folder (resolved) may be opened by POST /api/traces. */
void mrd__traces_allow(mrd__traces *traces, const char *folder);
/* Start opening; *id is the trace's. how: manifest, align and interpolation, copied; NULL: none.
 * Codes bad_paths, forbidden (outside the folders; skipped when trusted), too_many_traces. */
MRD_MUST_CHECK mrd_status mrd__traces_open(mrd__traces *traces, const char *const *paths,
                                           size_t count, const mrd_open_options *how, bool trusted,
                                           int64_t *id, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__traces_close(mrd__traces *traces, int64_t id, mrd_error *error);

/* A ready trace by id, held until released. Codes no_such_trace, not_ready, bad_trace. */
MRD_MUST_CHECK mrd_status mrd__traces_acquire(mrd__traces *traces, int64_t id,
                                              mrd__trace_slot **slot, mrd_error *error);
/* The trace of a result, by path: opened here and now, kept for the next question while the file
 * stays the same. Errors as mrd_trace_open; MRD_ERR_FORMAT gets the code bad_trace. */
MRD_MUST_CHECK mrd_status mrd__traces_acquire_path(mrd__traces *traces, const char *path,
                                                   mrd__trace_slot **slot, mrd_error *error);
const mrd_trace *mrd__trace_slot_trace(const mrd__trace_slot *slot);
void mrd__traces_release(mrd__traces *traces, mrd__trace_slot *slot);

/* JSON of one trace (spec timeline.md 2b), of all. */
MRD_MUST_CHECK mrd_status mrd__traces_describe(mrd__traces *traces, int64_t id, mrd__buf *out,
                                               mrd_error *error);
void mrd__traces_list(mrd__traces *traces, mrd__buf *out);

/* Server-sent events: append one event per trace that changed since *version, waiting up to
 * timeout_ms for a change. False when the server stops. */
bool mrd__traces_events(mrd__traces *traces, uint64_t *version, unsigned timeout_ms, mrd__buf *out);
/* Wake all waiting event streams and make them end. */
void mrd__traces_stop(mrd__traces *traces);

#endif
