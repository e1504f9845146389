// path: src/query/planted.c
// expect: banned: strndup: use
// allowed: src/base/planted.c
#include <string.h>

void mrd__planted(char **out);

void mrd__planted(char **out)
{
    *out = strndup("text", 2); // planted
}
