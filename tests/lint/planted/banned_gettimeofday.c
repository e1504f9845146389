// path: src/query/planted.c
// expect: banned: gettimeofday: use
// allowed: src/base/planted.c
#include <sys/time.h>

void mrd__planted(struct timeval *out);

void mrd__planted(struct timeval *out)
{
    gettimeofday(out, 0); // planted
}
