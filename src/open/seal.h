/* Sealing: the facts of a writer become an immutable store. */
#ifndef MRD_OPEN_SEAL_H
#define MRD_OPEN_SEAL_H

#include "model/writer.h"

/* Takes the writer (destroyed whatever the result, *writer becomes NULL). The store does not depend
 * on workers nor on how facts were spread over shards and chunks. Fails with MRD_ERR_LIMIT
 * "too_many_events" only. */
MRD_MUST_CHECK mrd_status mrd__seal(mrd__writer **writer, uint32_t workers, mrd__store **out,
                                    mrd_error *error);

#endif
