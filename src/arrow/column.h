/* Inside the reader: values of a column, and the checks a column passes before it is handed out. */
#ifndef MRD_ARROW_COLUMN_H
#define MRD_ARROW_COLUMN_H

#include "arrow/reader.h"

#define MRD__ARROW_VIEW 16 /* width of a text view */

/* A little-endian integer of 1, 2, 4 or 8 bytes at any address. */
int64_t mrd__arrow_load(const char *at, size_t width, bool is_signed);
/* NULL when every value of the column can be read; else what is wrong ("an index beyond ..."). */
const char *mrd__arrow_check_column(const mrd__arrow_in_column *column, size_t byte_count,
                                    size_t part_count);

#endif
