// path: src/query/planted.c
// expect: banned: malloc: use
// allowed: src/base/planted.c
#include <stdlib.h>

void mrd__planted(void **out);

void mrd__planted(void **out)
{
    *out = malloc(16); // planted
}
