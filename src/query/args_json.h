/* Args text as strict JSON. */
#ifndef MRD_QUERY_ARGS_JSON_H
#define MRD_QUERY_ARGS_JSON_H

#include "base/json.h"

/* Append the JSON value in text as strict compact JSON: strings valid UTF-8 with control characters
 * escaped, NaN and infinities as the strings "nan", "inf", "-inf", of members of one name the last
 * alone. Numbers stay as written. Text that is not JSON becomes one JSON string. */
void mrd__args_json(mrd__buf *out, mrd__str text);

#endif
