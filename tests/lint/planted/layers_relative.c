// path: src/query/planted.c
// expect: layers: "planted.h" is not a file below src/ or include/
#include "planted.h" // planted
