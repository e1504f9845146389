// path: src/query/planted.c
// expect: banned: strcat: use
#include <string.h>

void mrd__planted(char *to, const char *from);

void mrd__planted(char *to, const char *from)
{
    strcat(to, from); // planted
}
