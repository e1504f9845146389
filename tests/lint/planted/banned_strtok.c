// path: src/query/planted.c
// expect: banned: strtok: use
#include <string.h>

void mrd__planted(char *text);

void mrd__planted(char *text)
{
    strtok(text, ","); // planted
}
