/* Reading the inputs of a trace, side by side, into one writer. */
#ifndef MRD_OPEN_READ_H
#define MRD_OPEN_READ_H

#include "ingest/inputs.h"

/* A plain file of at least this many bytes is read by all threads together; smaller ones and packed
 * ones, which are streams, are read one a thread. */
#define MRD__READ_ALONE ((uint64_t)16 << 20)

/* File i of the writer is input i. What a member of an archive is refused for is a loss, anything
 * else fails. The maps of inputs move on. */
MRD_MUST_CHECK mrd_status mrd__read_inputs(mrd__inputs *inputs, const mrd_open_options *options,
                                           uint32_t threads, mrd__writer *writer, mrd_error *error);

#endif
