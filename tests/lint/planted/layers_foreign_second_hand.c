// path: src/events/planted.c
// expect: layers: events may not include <duckdb.h> (src/events/planted.c > src/duck/planted.h)
// bad: src/duck/planted.h includes <duckdb.h>
#include "duck/planted.h"
