// path: src/query/planted.c
// expect: banned: gets: use
#include <stdio.h>

void mrd__planted(char *to);

void mrd__planted(char *to)
{
    gets(to); // planted
}
