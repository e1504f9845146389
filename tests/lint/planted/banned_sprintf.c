// path: src/query/planted.c
// expect: banned: sprintf: use
#include <stdio.h>

void mrd__planted(char *to, int value);

void mrd__planted(char *to, int value)
{
    sprintf(to, "%d", value); // planted
}
