/* Reading small kernel files whole, between two looks at the clock. */
#ifndef MRD_SESSION_SOURCES_READFILE_H
#define MRD_SESSION_SOURCES_READFILE_H

#include "base/text.h"

enum {
    /* Of one file; /proc/stat of 1,000 cores has 300 KiB, most of it interrupts that stand last. */
    MRD__KERNEL_FILE_MAX = 512 << 10,
};
/* A reading whose two looks at the clock are further apart has no time worth telling. */
#define MRD__READ_SPREAD_NS UINT64_C(20000000)

typedef struct mrd__kernel_text {
    mrd__str text;    /* borrowed from the buffer given; empty where failed is not 0 */
    uint64_t time_ns; /* CLOCK_MONOTONIC, middle of before and after */
    uint64_t spread_ns;
    int failed; /* errno, 0: read */
} mrd__kernel_text;

/* Open path below folder (a descriptor or AT_FDCWD), read it from its start, close it. buf is
 * cleared first and holds the text. A file over the limit fails with EFBIG. */
mrd__kernel_text mrd__kernel_file(int folder, const char *path, mrd__buf *buf);
/* What a failed reading means: the thing is gone (ENOENT, ESRCH). */
bool mrd__kernel_gone(int failed);
/* We may not, or the kernel has it not: EACCES, EPERM, ENOSYS, EOPNOTSUPP. */
bool mrd__kernel_refused(int failed);

#endif
