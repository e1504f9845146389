/* Other forms of a trace (spec merge.md section 5b), written through a sink. */
#ifndef MRD_EXPORT_CONVERT_H
#define MRD_EXPORT_CONVERT_H

#include "export/cut.h"

/* Chrome Trace Event JSON, object form: convert_json.c. Event records are not written. */
MRD_MUST_CHECK mrd_status mrd__convert_json(mrd__selection *selection, const mrd_sink *sink,
                                            mrd_error *error);
/* Perfetto protobuf: convert_proto.c. MRD_ERR_UNSUPPORTED "negative_time" where a time is below
 * zero, which the format cannot say. */
MRD_MUST_CHECK mrd_status mrd__convert_proto(mrd__selection *selection, const mrd_sink *sink,
                                             mrd_error *error);

/* ---- Shared by both: walk.c ---- */

/* Slices of a range of the store (those of one track, or of some of its rows) as begins and ends in
 * the order in which a stack of them opens and closes: at equal times ends first, outer begins
 * before inner ones. */
typedef struct mrd__nest {
    const mrd__store *store;
    uint32_t *edges; /* slice ids by begin: start, then the outer one, then file order */
    uint64_t count, next;
    MRD__VEC(uint32_t) open; /* in the order of their begins */
} mrd__nest;
void mrd__nest_begin(mrd__nest *nest, const mrd__store *store, uint64_t first, uint64_t count);
/* The next edge; false after the last. Open slices end last. */
bool mrd__nest_next(mrd__nest *nest, uint64_t *slice, bool *begins);
void mrd__nest_reset(mrd__nest *nest);

/* First place in a flow index (by_from or by_to) whose slice is not below this one. */
size_t mrd__flow_lower(const mrd__store *store, const uint32_t *index, bool from, uint64_t slice);

#endif
