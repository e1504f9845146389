// path: src/query/planted.c
// expect: banned: atof: use
#include <stdlib.h>

void mrd__planted(const char *text, double *out);

void mrd__planted(const char *text, double *out)
{
    *out = atof(text); // planted
}
