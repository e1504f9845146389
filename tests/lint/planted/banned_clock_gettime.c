// path: src/query/planted.c
// expect: banned: clock_gettime: use
// allowed: src/base/planted.c
#include <time.h>

void mrd__planted(struct timespec *out);

void mrd__planted(struct timespec *out)
{
    clock_gettime(CLOCK_MONOTONIC, out); // planted
}
