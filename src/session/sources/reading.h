/* One reading of a built-in source: what was read, when, of whom. */
#ifndef MRD_SESSION_SOURCES_READING_H
#define MRD_SESSION_SOURCES_READING_H

#include "base/text.h"

typedef struct mrd__reading {
    const char *source, *kind; /* sourceId and kind of the envelope */
    uint64_t number;           /* adapterSequence: counts this source's readings from 1 */
    uint64_t time_ns;          /* CLOCK_MONOTONIC, the middle of the reading */
    uint64_t epoch;            /* sourceEpoch: rises where the counters began anew */
    uint64_t target;           /* targetGeneration: rises with another process of this pid */
    int64_t pid;               /* 0: none */
    bool verified;             /* the process was there before and after, else its identity is
                                * unknown */
    mrd__str payload;          /* a JSON object; borrowed until take returns */
} mrd__reading;

typedef struct mrd__reading_sink {
    void *ctx;
    void (*take)(void *ctx, const mrd__reading *reading);
} mrd__reading_sink;

#endif
