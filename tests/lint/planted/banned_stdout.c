// path: src/query/planted.c
// expect: banned: stdout: use a sink
// allowed: src/cli/planted.c
#include <stdio.h>

void mrd__planted(const char *text);

void mrd__planted(const char *text)
{
    fputs(text, stdout); // planted
}
