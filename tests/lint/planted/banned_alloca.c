// path: src/query/planted.c
// expect: banned: alloca: use
#include <stdlib.h>

void mrd__planted(void **out);

void mrd__planted(void **out)
{
    *out = alloca(16); // planted
}
