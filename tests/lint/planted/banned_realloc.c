// path: src/query/planted.c
// expect: banned: realloc: use
// allowed: src/base/planted.c
#include <stdlib.h>

void mrd__planted(void **out);

void mrd__planted(void **out)
{
    *out = realloc(*out, 16); // planted
}
