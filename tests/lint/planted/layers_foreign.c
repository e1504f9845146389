// path: src/query/planted.c
// expect: layers: query may not include <sqlite3.h>
// allowed: src/results/planted.c
#include <sqlite3.h> // planted
