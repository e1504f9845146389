// path: src/query/planted.c
// expect: banned: posix_memalign: use
// allowed: src/base/planted.c
#include <stdlib.h>

void mrd__planted(void **out);

void mrd__planted(void **out)
{
    posix_memalign(out, 64, 64); // planted
}
