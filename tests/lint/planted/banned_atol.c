// path: src/query/planted.c
// expect: banned: atol: use
#include <stdlib.h>

void mrd__planted(const char *text, long *out);

void mrd__planted(const char *text, long *out)
{
    *out = atol(text); // planted
}
