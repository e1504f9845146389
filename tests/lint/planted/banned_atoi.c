// path: src/query/planted.c
// expect: banned: atoi: use
#include <stdlib.h>

void mrd__planted(const char *text, int *out);

void mrd__planted(const char *text, int *out)
{
    *out = atoi(text); // planted
}
