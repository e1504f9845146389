// path: src/query/planted.c
// expect: banned: srand: use
#include <stdlib.h>

void mrd__planted(unsigned seed);

void mrd__planted(unsigned seed)
{
    srand(seed); // planted
}
