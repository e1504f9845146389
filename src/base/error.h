/* Filling mrd_error. Every failing function returns the result of mrd__fail or of a callee. */
#ifndef MRD_BASE_ERROR_H
#define MRD_BASE_ERROR_H

#include "meridian.h"

/* Fill *error (may be NULL) and return status. code: stable machine word (<= 31 chars); the text
 * is one line without a final period: what, the value, what is allowed. Clears file and offset. */
mrd_status mrd__fail(mrd_error *error, mrd_status status, const char *code, const char *format, ...)
    MRD_PRINTF(4, 5);
/* The same for a failed system call: appends ": strerror(errno)" and the path as file. */
mrd_status mrd__fail_errno(mrd_error *error, const char *path, const char *what);
/* Adds the place to an error already filled (keeps a place that is already known). offset -1:
 * unknown. Returns error->status, or status when error is NULL. */
mrd_status mrd__fail_at(mrd_error *error, mrd_status status, const char *file, int64_t offset);

#define MRD__TRY(expression)                                                                       \
    do {                                                                                           \
        mrd_status mrd__try_status = (expression);                                                 \
        if (mrd__try_status != MRD_OK) return mrd__try_status;                                     \
    } while (0)

#endif
