/* Args text of a slice or instant: made strict, and flattened. */
#ifndef MRD_QUERY_ARGS_FLAT_H
#define MRD_QUERY_ARGS_FLAT_H

#include "base/json.h"

/* Append the JSON value in text as strict compact JSON: no white space, strings valid UTF-8 with
 * control characters escaped, NaN and infinities as the strings "nan", "inf", "-inf". Numbers stay
 * as written. Text that is not JSON (which importers do not let in) becomes one JSON string. */
void mrd__args_compact(mrd__buf *out, mrd__str text);

typedef enum mrd__arg_type {
    MRD__ARG_STRING,
    MRD__ARG_INT,
    MRD__ARG_DOUBLE,
    MRD__ARG_BOOL,
    MRD__ARG_NULL,
    MRD__ARG_TEXT, /* NaN and infinities, empty objects and lists */
} mrd__arg_type;
const char *mrd__arg_type_name(mrd__arg_type type);

/* One leaf. Strings are decoded; the rest is text as it is printed. Borrowed for the call. */
typedef struct mrd__arg {
    mrd__str key; /* flat: a.b[0] */
    mrd__str value;
    mrd__arg_type type;
} mrd__arg;

/* Memory of a flattening, used again from text to text. One thread at a time. */
typedef struct mrd__flat mrd__flat;
mrd__flat *mrd__flat_create(void);
void mrd__flat_destroy(mrd__flat **flat); /* accepts NULL and *flat == NULL */

/* Call each for the leaves of an object, in order; where a key stands twice in one object the last
 * one stands for all, with everything below it. A failure of each stops and is returned. */
typedef mrd_status (*mrd__arg_fn)(void *ctx, const mrd__arg *arg, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__args_flatten(mrd__flat *flat, mrd__str text, mrd__arg_fn each,
                                            void *ctx, mrd_error *error);

#endif
