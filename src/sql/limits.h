/* Every limit of SQL in one place, with its reason. Rows of an answer have none: answers stream. */
#ifndef MRD_SQL_LIMITS_H
#define MRD_SQL_LIMITS_H

/* Bytes of one statement: far above what a person writes, far below what a parser chokes on. */
#define MRD__SQL_TEXT_MAX ((size_t)1 << 20)

/* Columns of an answer. */
#define MRD__SQL_COLUMNS_MAX 1024

/* Memory that all statements of one trace may take together, in percent of the machine's: the
 * trace itself and other programs need the rest. There is no spilling to disk: beyond it a
 * statement fails and says so. */
#define MRD__SQL_MEMORY_PERCENT 50

/* Names of a dictionary column: up to these they go out as ENUM codes of at most two bytes, beyond
 * as views into our string pool (a wider ENUM is not faster than those). */
#define MRD__SQL_ENUM_MAX 65535

/* Rows that a thread takes at a time: DuckDB's own row group, so that its threads work alike. */
#define MRD__SQL_MORSEL 122880

/* Slices whose args are flattened in one go by a thread. */
#define MRD__SQL_ARGS_BLOCK 512

/* Rows that the aligned text table looks at for its column widths, and the widest cell. */
#define MRD__SQL_TABLE_ROWS 1000
#define MRD__SQL_TABLE_CELL 80

/* Bytes of answer gathered before they go to the sink. */
#define MRD__SQL_FLUSH 65536

#endif
