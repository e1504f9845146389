/* Recomputing a stored session's events, samples and report from its raw records. */
#ifndef MRD_SESSION_REPLAY_H
#define MRD_SESSION_REPLAY_H

#include "session/check.h"
#include "session/engine.h"

typedef struct mrd__replay_result {
    bool equal;
    char file[32];   /* of the first difference */
    uint64_t offset; /* of its first byte that differs */
    uint64_t stored_size, made_size;
    uint64_t records, samples, events;
} mrd__replay_result;

/* Compare byte for byte; MRD_OK also where it differs. A session under definitions that this
 * program does not have is refused: MRD_ERR_UNSUPPORTED "definitions". files NULL: the system's. */
MRD_MUST_CHECK mrd_status mrd__session_replay(const char *dir, const mrd__files *files,
                                              mrd__replay_result *result, mrd_error *error);
/* Refuses a session under other definitions, as replay does. */
MRD_MUST_CHECK mrd_status mrd__session_check_definitions(const mrd__stored *stored,
                                                         mrd_error *error);
/* For mrd__session_recover: the derived files of the valid prefix. ctx unused. */
mrd_status mrd__session_rederive(void *ctx, mrd__recovery *recovery, mrd__stored *stored,
                                 mrd__buf *facts, mrd_error *error);

#endif
