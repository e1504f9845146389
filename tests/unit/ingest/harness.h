/* Reading a text in every way there is, to compare the facts. */
#ifndef MRD_TESTS_UNIT_INGEST_HARNESS_H
#define MRD_TESTS_UNIT_INGEST_HARNESS_H

#include "base/text.h"

typedef struct way {
    size_t feed;      /* bytes handed over at a time; 0: the whole text in memory */
    bool fast;        /* with the fast walker */
    uint32_t threads; /* above 0: the parallel reader */
    size_t chunk;     /* of the parallel reader */
    bool scan;        /* even with one thread */
    bool copied;      /* from a file, chunk by chunk */
} way;

/* The facts (dump.h), or "error CODE\n". rejected may be NULL: counts up the chunks that the
 * parallel reader read for nothing though no chunk lay behind the end of the events. */
void read_way(mrd__str text, way how, mrd__buf *out, uint64_t *rejected);
/* Read plainly and compare with feeds of 1, 2, 7, 64 and 4096 bytes, the fast walker, and the
 * parallel reader with 1 and 3 threads, with and without copying, and chunks from 16 bytes up;
 * fails the test with its name. */
void check_all_ways(const char *name, mrd__str text);

/* Small traces of our own, each about one thing; NULL name ends the list. */
typedef struct fixture {
    const char *name, *text;
    size_t size;        /* 0: up to the final zero */
    const char *losses; /* expected lines of dump_losses without places, or an error line */
} fixture;
extern const fixture fixtures[];
mrd__str fixture_text(const fixture *of);

/* A trace of any size with everything in it, the same for the same seed. */
void make_trace(mrd__buf *out, uint64_t seed, size_t events);

/* Files of ../shared/data that hold Chrome JSON; false with a message when they are not there. */
typedef void (*each_file)(const char *name, mrd__str text);
bool for_real_files(each_file each);

#endif
