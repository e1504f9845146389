// path: src/query/planted.c
// expect: banned: system: use
#include <stdlib.h>

void mrd__planted(const char *command);

void mrd__planted(const char *command)
{
    system(command); // planted
}
