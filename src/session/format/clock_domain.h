/* Times of sessions. Each clock domain is a C type of its own, so that a difference across domains
 * does not compile:
 *
 *   mrd__host_ns      the host's monotonic clock when a line was read: windows, freshness, elapsed
 *   mrd__source_ns    a source's own nanoseconds, in the domain that its envelope names
 *   mrd__device_ticks a device's ticks (mach or other); no time until a timebase is known
 *   mrd__timeline_ns  where something is drawn; no time of a source is ever derived from it
 *
 *   two of one type ──mrd__elapsed──▶ mrd__span_ns      (host, source, timeline)
 *                   └───────────────▶ mrd__span_ticks ──mrd__span_of_ticks──▶ mrd__span_ns
 *
 * mrd__span_of_ticks is the only conversion there is: of a difference, never of a point in time.
 * That two mrd__source_ns are of the same named domain is the caller's to check: see
 * mrd__continuity. Pure functions, any thread. */
#ifndef MRD_SESSION_FORMAT_CLOCK_DOMAIN_H
#define MRD_SESSION_FORMAT_CLOCK_DOMAIN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mrd__host_ns {
    int64_t host_ns;
} mrd__host_ns;
typedef struct mrd__source_ns {
    int64_t source_ns;
} mrd__source_ns;
typedef struct mrd__device_ticks {
    int64_t ticks;
} mrd__device_ticks;
typedef struct mrd__timeline_ns {
    int64_t timeline_ns;
} mrd__timeline_ns;

/* Differences. 128 bits: two int64 are up to 2^64 apart, and ticks are multiplied. */
typedef struct mrd__span_ns {
    __int128 ns;
} mrd__span_ns;
typedef struct mrd__span_ticks {
    __int128 ticks;
} mrd__span_ticks;

/* ns = ticks * numer / denom, as the device told it. 32 bits each, as mach has them: with a
 * difference of 65 bits the product stays below 2^97. */
typedef struct mrd__timebase {
    uint32_t numer, denom; /* both above 0, else the timebase is not known */
} mrd__timebase;

static inline bool mrd__timebase_known(mrd__timebase timebase)
{
    return timebase.numer > 0 && timebase.denom > 0;
}

static inline mrd__span_ns mrd__elapsed_host(mrd__host_ns from, mrd__host_ns to)
{
    return (mrd__span_ns){(__int128)to.host_ns - from.host_ns};
}
static inline mrd__span_ns mrd__elapsed_source(mrd__source_ns from, mrd__source_ns to)
{
    return (mrd__span_ns){(__int128)to.source_ns - from.source_ns};
}
static inline mrd__span_ticks mrd__elapsed_device(mrd__device_ticks from, mrd__device_ticks to)
{
    return (mrd__span_ticks){(__int128)to.ticks - from.ticks};
}
static inline mrd__span_ns mrd__elapsed_timeline(mrd__timeline_ns from, mrd__timeline_ns to)
{
    return (mrd__span_ns){(__int128)to.timeline_ns - from.timeline_ns};
}

/* The time from one point to another of the same domain, by the type of the first. The second must
 * have the same type, else it does not compile. */
#define mrd__elapsed(from, to)                                                                     \
    _Generic((from), mrd__host_ns                                                                  \
             : mrd__elapsed_host, mrd__source_ns                                                   \
             : mrd__elapsed_source, mrd__device_ticks                                              \
             : mrd__elapsed_device, mrd__timeline_ns                                               \
             : mrd__elapsed_timeline)((from), (to))

/* floor(ticks * numer / denom): the product in 128 bits, one division, also below 0. The timebase
 * must be known. */
static inline mrd__span_ns mrd__span_of_ticks(mrd__span_ticks span, mrd__timebase timebase)
{
    __int128 product = span.ticks * timebase.numer, denom = timebase.denom;
    __int128 whole = product / denom;
    return (mrd__span_ns){whole - (product % denom != 0 && product < 0)};
}

/* Into int64 when it fits: nothing is clamped. */
static inline bool mrd__span_int64(mrd__span_ns span, int64_t *out)
{
    *out = (int64_t)span.ns;
    return span.ns >= INT64_MIN && span.ns <= INT64_MAX;
}

#endif
