// path: src/query/planted.c
// expect: banned: printf: use
// allowed: src/cli/planted.c
#include <stdio.h>

void mrd__planted(int value);

void mrd__planted(int value)
{
    printf("%d\n", value); // planted
}
