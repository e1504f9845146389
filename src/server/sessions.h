/* Routes of recorded sessions (docs/http.md, Sessions): the folder {DATA}/sessions. */
#ifndef MRD_SERVER_SESSIONS_H
#define MRD_SERVER_SESSIONS_H

#include <stdatomic.h>

#include "server/http.h"

void mrd__get_sessions(mrd__request *request, mrd__reply *reply);
void mrd__get_session(mrd__request *request, mrd__reply *reply);
void mrd__get_session_report(mrd__request *request, mrd__reply *reply);
void mrd__get_session_samples(mrd__request *request, mrd__reply *reply);
void mrd__get_session_raw(mrd__request *request, mrd__reply *reply);
void mrd__get_session_events(mrd__request *request, mrd__reply *reply);

/* The path of the session that the route names, in path, which is reset in any case; false with
 * the refusal in reply. */
bool mrd__session_path(const mrd__request *request, mrd__reply *reply, mrd__buf *path);

/* Server-sent events: append what is new in the session, waiting up to timeout_ms or until
 * *stopping. False after the last event. */
bool mrd__session_events(mrd_session_follow *follow, const atomic_bool *stopping,
                         unsigned timeout_ms, mrd__buf *out);

#endif
