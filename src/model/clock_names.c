/* What clocks are called. */
#include "model/store.h"

const char *mrd__clock_name(uint32_t id)
{
    static const char *const names[] = {
        [1] = "REALTIME",      [2] = "REALTIME_COARSE", [3] = "MONOTONIC", [4] = "MONOTONIC_COARSE",
        [5] = "MONOTONIC_RAW", [6] = "BOOTTIME",        [9] = "TSC",       [10] = "PERF",
        [11] = "TRACE_FILE"};
    return id < sizeof names / sizeof names[0] ? names[id] : NULL;
}

const char *mrd__clock_origin_name(mrd__clock_origin origin)
{
    static const char *const names[] = {"observed", "manifest", "assumed"};
    return names[origin];
}
