// path: src/query/planted.c
// expect: banned: rand: use
#include <stdlib.h>

void mrd__planted(int *out);

void mrd__planted(int *out)
{
    *out = rand(); // planted
}
