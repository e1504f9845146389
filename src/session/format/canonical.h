/* Canonical JSON (RFC 8785): the same value has the same bytes everywhere, so that it can be
 * hashed. Members sorted by UTF-16 units, no spaces, numbers as ECMAScript writes them, strings
 * with the shortest escapes.
 *
 * Numbers: an integer outside +-(2^53 - 1) is refused, since RFC 8785 would round it; our files
 * hold counts, sizes and sequences as numbers within it, and everything that may pass it (times in
 * ns, ticks) as strings of decimal digits. */
#ifndef MRD_SESSION_FORMAT_CANONICAL_H
#define MRD_SESSION_FORMAT_CANONICAL_H

#include "base/text.h"

#define MRD__CANONICAL_DEPTH_MAX 64 /* bounds the stack; our files reach 5 */
#define MRD__CANONICAL_INTEGER_MAX ((uint64_t)9007199254740991) /* 2^53 - 1 */

/* Append text's value in canonical form. MRD_ERR_FORMAT "bad_json" with the offset for what is no
 * JSON, a key twice, a lone surrogate, a number that is not finite or would be rounded; out is then
 * unchanged. Any thread. */
MRD_MUST_CHECK mrd_status mrd__canonical_json(mrd__buf *out, mrd__str text, mrd_error *error);
/* A finite double as ECMAScript writes it. */
void mrd__canonical_double(mrd__buf *out, double value);

#endif
