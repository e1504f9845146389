// path: src/query/planted.c
// expect: banned: puts: use
// allowed: src/cli/planted.c
#include <stdio.h>

void mrd__planted(const char *text);

void mrd__planted(const char *text)
{
    puts(text); // planted
}
