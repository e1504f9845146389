// path: src/query/planted.c
// expect: banned: strdup: use
// allowed: src/base/planted.c
#include <string.h>

void mrd__planted(char **out);

void mrd__planted(char **out)
{
    *out = strdup("text"); // planted
}
