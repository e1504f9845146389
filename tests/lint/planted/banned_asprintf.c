// path: src/query/planted.c
// expect: banned: asprintf: use
// allowed: src/base/planted.c
#include <stdio.h>

void mrd__planted(char **out);

void mrd__planted(char **out)
{
    asprintf(out, "%d", 1); // planted
}
