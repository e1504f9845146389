// path: src/clock/planted.c
// with: src/model/planted.h
// expect: layers: clock may not include model (src/clock/planted.c > src/model/planted.h)
#include "base/planted.h"
#include "model/planted.h" // planted
