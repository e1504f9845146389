/* meridian.h, Generators. */
#include "base/assert.h"
#include "export/export.h"
#include "meridian.h"

mrd_status mrd_gen_event_trace(const char *path, uint64_t events, uint64_t seed, mrd_error *error)
{
    mrd__assert(path != NULL);
    return mrd__gen_event_trace(path, events, seed, error);
}

mrd_status mrd_gen_chrome_json(const mrd_sink *sink, uint64_t events, uint64_t seed,
                               mrd_error *error)
{
    mrd__assert(sink != NULL);
    return mrd__gen_chrome_json(sink, events, seed, error);
}
