// path: src/query/planted.c
// expect: banned: free: use
// allowed: src/base/planted.c
#include <stdlib.h>

void mrd__planted(void *block);

void mrd__planted(void *block)
{
    free(block); // planted
}
