/* A line of the case format (one JSON object) to an envelope. */
#ifndef MRD_SESSION_LINE_H
#define MRD_SESSION_LINE_H

#include "session/format/envelope.h"

/* Read one line, without its LF. Absent members mean: decoded, identityStatus assumed, schemaId =
 * kind, sourceRole primary, sourceEpoch and targetGeneration 1, reconnectGeneration 0, clockDomain
 * none, no pid; times and adapterSequence are then not there. Members of other names are ignored.
 * Texts are borrowed from line, those with escapes from texts (cleared first): both must stay as
 * long as the envelope is used. MRD_ERR_FORMAT "bad_line": error->offset is the byte in the line,
 * the message names member, value and what is allowed; MRD_ERR_LIMIT "line_size" above
 * MRD__ENVELOPE_LINE_MAX. One thread a texts. */
MRD_MUST_CHECK mrd_status mrd__envelope_from_json(mrd__envelope *envelope, mrd__str line,
                                                  mrd__buf *texts, mrd_error *error);

#endif
