/* One table of answer rows in any of the forms of a window: an Arrow stream, the JSON document of
 * event-trace.md section 5 (its "rows"), or CSV. Columns are given as Arrow has them. */
#ifndef MRD_QUERY_TABLE_H
#define MRD_QUERY_TABLE_H

#include "arrow/arrow.h"
#include "base/error.h"

#define MRD__TABLE_MAX_FIELDS 16

typedef struct mrd__table {
    mrd_format format;              /* ARROW, JSON or CSV */
    const mrd__arrow_field *fields; /* borrowed */
    size_t field_count;
    const mrd_sink *sink;
    mrd__arrow_writer *arrow;
    mrd__arrow_dict dict[MRD__TABLE_MAX_FIELDS]; /* borrowed until finish */
    mrd__buf out;
    uint64_t rows;
} mrd__table;

/* json_head is what stands before the rows: "\"mode\":...,"; metadata goes into Arrow alone.
 * Nothing is written yet. Types allowed: FLOAT64, INT64, UINT32, UINT16, UTF8,
 * DICT8, DICT32. */
void mrd__table_init(mrd__table *table, mrd_format format, const mrd__arrow_field *fields,
                     size_t field_count, const mrd__arrow_kv *metadata, size_t metadata_count,
                     const char *json_head, const mrd_sink *sink);
/* Words of a dictionary field, before the first rows; must stay valid until finish. */
MRD_MUST_CHECK mrd_status mrd__table_dictionary(mrd__table *table, size_t field,
                                                const mrd__arrow_dict *dict, mrd_error *error);
/* Rows of all columns; NULL validity: no nulls. */
MRD_MUST_CHECK mrd_status mrd__table_rows(mrd__table *table, const mrd__arrow_column *columns,
                                          size_t rows, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__table_finish(mrd__table *table, mrd_error *error);
void mrd__table_reset(mrd__table *table); /* after init, whether finished or not */

#endif
