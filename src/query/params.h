/* Parameters of a question, from a query string, a JSON body or command line options, and their
 * limits (spec event-trace.md section 3). */
#ifndef MRD_QUERY_PARAMS_H
#define MRD_QUERY_PARAMS_H

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"

#define MRD__MAX_BUCKETS 4096       /* device pixels of a wide screen */
#define MRD__MAX_WINDOW_ROWS 100000 /* raw rows a page can pair and draw in a frame's time */
#define MRD__SUGGESTED_BUCKETS 2048
#define MRD__MAX_PARAMS 65536 /* list parts; bounds memory of a request */

typedef enum mrd__param_form {
    MRD__PARAM_TEXT,        /* query string or option: may be read as anything */
    MRD__PARAM_JSON_STRING, /* scalars of a JSON body are read as what they are */
    MRD__PARAM_JSON_NUMBER,
    MRD__PARAM_JSON_ARRAY, /* one element of an array, or (encoded and empty) an empty array */
} mrd__param_form;

typedef struct mrd__param {
    char *name;       /* decoded */
    mrd__str value;   /* as given: raw when encoded, else decoded */
    mrd__str decoded; /* encoded only: the whole value decoded; data NULL: bad encoding */
    bool encoded;     /* value is percent-encoded text to split at ',' first */
    uint8_t form;     /* mrd__param_form */
} mrd__param;

struct mrd_params {
    MRD__VEC(mrd__param) items; /* in order; names may repeat */
};

typedef MRD__VEC(mrd__str) mrd__str_list; /* decoded parts, owned */
void mrd__str_list_reset(mrd__str_list *list);

/* A finite decimal. *set tells whether the name was given. bad_number, bad_parameter (twice). */
MRD_MUST_CHECK mrd_status mrd__params_double(const mrd_params *params, const char *name, bool *set,
                                             double *out, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__params_int64(const mrd_params *params, const char *name, bool *set,
                                            int64_t *out, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__params_text(const mrd_params *params, const char *name, bool *set,
                                           mrd__str *out, mrd_error *error);
/* A whole number from 1 to MRD__MAX_BUCKETS (any decimal form: 1e3). bad_number, bad_buckets. */
MRD_MUST_CHECK mrd_status mrd__params_buckets(const mrd_params *params, bool *set, uint32_t *out,
                                              mrd_error *error);
/* All parts of all occurrences of a list parameter; an empty value is an empty list. */
MRD_MUST_CHECK mrd_status mrd__params_list(const mrd_params *params, const char *name, bool *set,
                                           mrd__str_list *out, mrd_error *error);
/* bad_parameter that names the first parameter not in allowed (NULL-terminated). */
MRD_MUST_CHECK mrd_status mrd__params_only(const mrd_params *params, const char *const *allowed,
                                           mrd_error *error);

/* A value as error messages show it: cut to MRD__PARAM_EXCERPT bytes ("..." then), control
 * characters and bytes that are not UTF-8 replaced by '?'. Returns out. */
#define MRD__PARAM_EXCERPT 80
typedef struct mrd__param_shown {
    char text[MRD__PARAM_EXCERPT + 4];
} mrd__param_shown;
const char *mrd__param_show(mrd__param_shown *out, mrd__str value);

#endif
