#ifndef MRD_OPEN_CACHE_FOLDER_H
#define MRD_OPEN_CACHE_FOLDER_H

#include "open/cache.h"

/* $XDG_CACHE_HOME/meridian or $HOME/.cache/meridian into out; false when neither is set. */
bool mrd__cache_folder(mrd__buf *out);
/* Remove the longest unused until all together take at most so many bytes. */
MRD_MUST_CHECK mrd_status mrd__cache_shrink(uint64_t most, mrd_error *error);

#endif
