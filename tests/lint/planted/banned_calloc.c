// path: src/query/planted.c
// expect: banned: calloc: use
// allowed: src/base/planted.c
#include <stdlib.h>

void mrd__planted(void **out);

void mrd__planted(void **out)
{
    *out = calloc(1, 16); // planted
}
