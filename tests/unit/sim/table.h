/* Tables of ../shared/cases, line by line. */
#ifndef MRD_TESTS_UNIT_SIM_TABLE_H
#define MRD_TESTS_UNIT_SIM_TABLE_H

#include "base/os.h"

/* The table's text; NULL, with a line on stderr, where ../shared is absent. Free with
 * mrd__buf_reset. */
const char *table_open(mrd__buf *text, const char *name);
/* Cut the next line at its commas into at most max fields; 0 at the end. Skips the header when
 * *at is the start of text. */
size_t table_row(char **at, char **fields, size_t max);

#endif
