// path: src/query/planted.c
// expect: banned: putchar: use
// allowed: src/cli/planted.c
#include <stdio.h>

void mrd__planted(int c);

void mrd__planted(int c)
{
    putchar(c); // planted
}
