/* Least and greatest value of any range of samples in logarithmic time.
 *
 * One pyramid stands over one whole value column, whatever groups (tracks, keys) lie in it: level
 * 0 has a pair per 32 samples counted from index 0, level 1 one per 1,024 and so on. A question
 * uses only pairs that lie wholly inside its range and looks at the (at most 62) samples outside
 * them, so that a pair which spans two groups is never used for either. */
#ifndef MRD_MODEL_PYRAMID_H
#define MRD_MODEL_PYRAMID_H

#include <stdbool.h>
#include <stdint.h>

#define MRD__PYRAMID_BLOCK 32
#define MRD__PYRAMID_LEVELS 7 /* 32^7 > 2^32 samples */

/* Zeroed is empty (of a column without samples). */
typedef struct mrd__pyramid {
    double *min[MRD__PYRAMID_LEVELS], *max[MRD__PYRAMID_LEVELS]; /* NULL beyond the top */
    uint64_t size[MRD__PYRAMID_LEVELS];
} mrd__pyramid;

/* Build over value[0, count); no value is NaN. workers as for mrd__parallel. Once, at sealing. */
void mrd__pyramid_build(mrd__pyramid *pyramid, const double *value, uint64_t count,
                        uint32_t workers);
void mrd__pyramid_reset(mrd__pyramid *pyramid);
uint64_t mrd__pyramid_memory(const mrd__pyramid *pyramid); /* bytes */

/* Widen [*min, *max] by value[begin, end), nothing when that is empty: start with a carried value,
 * or with +infinity and -infinity. value is the column the pyramid was built over. */
void mrd__pyramid_range(const mrd__pyramid *pyramid, const double *value, uint64_t begin,
                        uint64_t end, double *min, double *max);

#endif
