/* Plan: what a manifest and options say, with its files found among the inputs. */
#ifndef MRD_OPEN_PLAN_H
#define MRD_OPEN_PLAN_H

#include "ingest/inputs.h"
#include "model/merge.h"
#include "open/manifest.h"

typedef struct mrd__plan {
    mrd__merge_plan merge; /* files are numbered as the inputs are */
    mrd__manifest manifest;
    uint32_t manifest_input; /* MRD__NONE without one */
    uint32_t *input_of;      /* [manifest.files] */
    MRD__VEC(mrd__merge_edge) edges;
    MRD__VEC(mrd__merge_machine) machines;
} mrd__plan;

/* Machine number of a merge_machine that stands for all machines of its file. */
#define MRD__EVERY_MACHINE UINT32_MAX

/* Find the manifest among the inputs and judge it by them. MRD_ERR_FORMAT "bad_manifest",
 * "two_manifests". plan is zeroed; reset by the caller in any case; it borrows nothing. */
MRD_MUST_CHECK mrd_status mrd__plan_make(mrd__plan *plan, const mrd__inputs *inputs,
                                         mrd_error *error);
/* What can only be judged once the files were read: files with one clock must have no other. */
MRD_MUST_CHECK mrd_status mrd__plan_check(const mrd__plan *plan, const mrd__inputs *inputs,
                                          const mrd__writer *writer, mrd_error *error);
void mrd__plan_reset(mrd__plan *plan);

#endif
