/* Facts of an unsealed writer as text, the same whatever shards and threads they came from. */
#ifndef MRD_TESTS_INGEST_DUMP_H
#define MRD_TESTS_INGEST_DUMP_H

#include "base/alloc.h"
#include "model/facts.h"

/* All facts, metadata, counts and losses in file order. text is the file's (inflated) text, for
 * args that are spans of it. */
void dump_facts(mrd__writer *writer, const char *text, mrd__buf *out);
/* Only "loss name count" lines, sorted by id. */
void dump_losses(mrd__writer *writer, bool with_place, mrd__buf *out);

#endif
