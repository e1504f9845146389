// path: src/query/planted.c
// expect: banned: atoll: use
#include <stdlib.h>

void mrd__planted(const char *text, long long *out);

void mrd__planted(const char *text, long long *out)
{
    *out = atoll(text); // planted
}
