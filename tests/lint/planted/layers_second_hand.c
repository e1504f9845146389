// path: src/query/planted.c
// with: src/model/planted.h src/base/planted.h
// expect: layers: query may not include clock, also at second hand
// bad: src/model/planted.h includes clock/planted.h
#include "model/planted.h"
