// path: src/cli/planted.c
// expect: layers: cli may not include query
#include "meridian.h"
#include "query/planted.h" // planted
