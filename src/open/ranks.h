/* Ranks of distributed runs as machines. */
#ifndef MRD_OPEN_RANKS_H
#define MRD_OPEN_RANKS_H

#include "model/writer.h"

/* Files that say which rank of a run they are (distributedInfo.rank, as PyTorch writes it) and that
 * are of more than one rank: each rank is a machine "rank N", so that equal process ids of
 * different ranks stay apart. A manifest's name of a machine counts before. */
void mrd__name_ranks(mrd__writer *writer);

#endif
