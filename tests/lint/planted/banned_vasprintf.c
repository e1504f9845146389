// path: src/query/planted.c
// expect: banned: vasprintf: use
// allowed: src/base/planted.c
#include <stdio.h>

void mrd__planted(char **out, va_list args);

void mrd__planted(char **out, va_list args)
{
    vasprintf(out, "%d", args); // planted
}
