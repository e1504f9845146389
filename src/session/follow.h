/* A session while it is being recorded, followed from outside through its files: the same engine
 * over the same records as the recorder's own, so the live view cannot differ from the report. */
#ifndef MRD_SESSION_FOLLOW_H
#define MRD_SESSION_FOLLOW_H

#include "base/text.h"

typedef struct mrd__follow mrd__follow;

/* dir is DIR; where only DIR.open is there, that is followed. MRD_ERR_NOT_FOUND "no_session". */
MRD_MUST_CHECK mrd_status mrd__follow_open(const char *dir, mrd__follow **out, mrd_error *error);
void mrd__follow_close(mrd__follow **follow); /* accepts NULL */
/* What is new in the files, without waiting: documents as mrd_session_follow_next tells them. *open
 * false: the session is sealed and all of it was told. One thread a follow. */
MRD_MUST_CHECK mrd_status mrd__follow_read(mrd__follow *follow, bool *open, mrd__buf *out,
                                           mrd_error *error);

#endif
