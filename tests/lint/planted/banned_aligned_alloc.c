// path: src/query/planted.c
// expect: banned: aligned_alloc: use
// allowed: src/base/planted.c
#include <stdlib.h>

void mrd__planted(void **out);

void mrd__planted(void **out)
{
    *out = aligned_alloc(64, 64); // planted
}
