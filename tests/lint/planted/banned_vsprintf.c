// path: src/query/planted.c
// expect: banned: vsprintf: use
#include <stdio.h>

void mrd__planted(char *to, va_list args);

void mrd__planted(char *to, va_list args)
{
    vsprintf(to, "%d", args); // planted
}
