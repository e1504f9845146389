/* Numbers of rows by table, as `dump` writes them. */
#ifndef MRD_EXPORT_COUNTS_H
#define MRD_EXPORT_COUNTS_H

#include "export/plain.h"

typedef struct mrd__counts {
    uint64_t process, thread, track, slice, unclosed, instant, counter, flow, event;
} mrd__counts;

mrd__counts mrd__counts_of(const mrd__store *store);
/* {"process":n,...} */
void mrd__counts_json(mrd__buf *out, const mrd__counts *counts);
/* [{loss},...]: the rows of the loss table, and worst_ns where a loss has it. */
void mrd__losses_json(mrd__buf *out, const mrd__store *store);

#endif
