// path: src/query/planted.c
// expect: banned: vprintf: use
// allowed: src/cli/planted.c
#include <stdio.h>

void mrd__planted(va_list args);

void mrd__planted(va_list args)
{
    vprintf("%d", args); // planted
}
