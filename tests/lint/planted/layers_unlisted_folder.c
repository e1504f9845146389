// path: src/plugins/planted.c
// expect: layers: its folder is not listed
// allowed: src/query/planted.c
#include "base/planted.h"
