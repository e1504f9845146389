// path: src/query/planted.c
// expect: banned: popen: use
#include <stdio.h>

void mrd__planted(FILE **out);

void mrd__planted(FILE **out)
{
    *out = popen("true", "r"); // planted
}
