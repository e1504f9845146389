// path: src/query/planted.c
// expect: banned: random: use
#include <stdlib.h>

void mrd__planted(long *out);

void mrd__planted(long *out)
{
    *out = random(); // planted
}
