/* Shared by the files of this module that know the result store. */
#ifndef MRD_API_RESULTS_H
#define MRD_API_RESULTS_H

#include "base/alloc.h"
#include "base/error.h"
#include "results/results.h"

struct mrd_results {
    mrd__results *store;
};

/* Decoded name-value pairs of params; owns the decoded values. */
typedef struct mrd__fields {
    MRD__VEC(mrd__field) items;
    MRD__VEC(mrd__buf) values;
} mrd__fields;
/* Reset in any case. Code bad_parameter: bad percent-encoding. */
MRD_MUST_CHECK mrd_status mrd__fields_of(const mrd_params *params, mrd__fields *out,
                                         mrd_error *error);
void mrd__fields_reset(mrd__fields *list);

#endif
