// path: src/query/planted.c
// expect: banned: strcpy: use
#include <string.h>

void mrd__planted(char *to, const char *from);

void mrd__planted(char *to, const char *from)
{
    strcpy(to, from); // planted
}
