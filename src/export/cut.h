/* Which part of a trace is written: a range of time, lanes and names by pattern. */
#ifndef MRD_EXPORT_CUT_H
#define MRD_EXPORT_CUT_H

#include "model/store.h"

/* What the caller asks; NULL and false: everything. Patterns: * any text, ? one character, [a-z]
 * one of these. Lanes are matched by their own, their thread's or their process's name. */
typedef struct mrd__cut {
    bool has_start, has_end;
    int64_t start_ns, end_ns;
    const char *tracks, *names;
} mrd__cut;

/* The answer for a store, which must outlive it. */
typedef struct mrd__selection {
    const mrd__store *store;
    mrd__cut cut;
    bool *tracks;   /* by track */
    uint8_t *names; /* by string id: 0 not looked at yet, 1 no, 2 yes */
} mrd__selection;

void mrd__selection_make(mrd__selection *out, const mrd__store *store, const mrd__cut *cut);
void mrd__selection_reset(mrd__selection *selection);

/* Slices that touch the range are kept whole. One thread at a time. */
bool mrd__selects_slice(mrd__selection *selection, uint64_t slice);
bool mrd__selects_instant(mrd__selection *selection, uint32_t track, uint64_t instant);
bool mrd__selects_sample(mrd__selection *selection, uint32_t track, uint64_t sample);
/* Both of its slices are. */
bool mrd__selects_flow(mrd__selection *selection, const mrd__flow *flow);
/* "start", "end", "start|end": the edges of the range that a kept slice crosses; NULL none. */
const char *mrd__selection_crossed(const mrd__selection *selection, uint64_t slice);

bool mrd__glob(const char *pattern, mrd__str text);

#endif
