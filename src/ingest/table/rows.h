/* What both forms share: which columns mean what, and rows as facts. */
#ifndef MRD_INGEST_TABLE_ROWS_H
#define MRD_INGEST_TABLE_ROWS_H

#include "ingest/ingest.h"

/* Facts of one chunk: sealing shares out whole chunks. */
#define MRD__TABLE_CHUNK 65536

typedef enum mrd__table_role {
    MRD__TABLE_NAME,
    MRD__TABLE_TS,
    MRD__TABLE_DUR,
    MRD__TABLE_PID,
    MRD__TABLE_TID,
    MRD__TABLE_CATEGORY,
    MRD__TABLE_ARGS,
    MRD__TABLE_PROCESS,
    MRD__TABLE_THREAD,
    MRD__TABLE_ROLES
} mrd__table_role;

typedef enum mrd__table_kind { /* of a column, as far as the choice needs it */
    MRD__TABLE_INT,
    MRD__TABLE_TIME, /* a timestamp or duration of any unit */
    MRD__TABLE_REAL,
    MRD__TABLE_TEXT,
    MRD__TABLE_OTHER,
} mrd__table_kind;

typedef struct mrd__table_column {
    mrd__str name; /* borrowed */
    mrd__table_kind kind;
} mrd__table_column;

/* Which column plays which part; -1 none. Names are ts_ns, ts (else one that begins with ts: whole
 * numbers and timestamps before doubles), dur_ns, dur, name, pid, tid, category or cat, args,
 * process, thread. MRD_ERR_FORMAT "bad_table" where name or a time is missing, with the columns. */
typedef struct mrd__table_plan {
    int column[MRD__TABLE_ROLES];
    bool micros; /* the time is a double of microseconds */
} mrd__table_plan;
MRD_MUST_CHECK mrd_status mrd__table_plan_of(const mrd__table_column *columns, size_t count,
                                             mrd__table_plan *out, mrd_error *error);

/* A pid or tid of a row. */
typedef struct mrd__table_id {
    mrd__ident_kind kind;
    int64_t number;
    mrd__str text;
} mrd__table_id;

typedef struct mrd__table_row {
    int64_t ts_ns, dur_ns;
    bool open; /* no duration is known */
    mrd__str name, category, args, process, thread;
    mrd__table_id pid, tid;
} mrd__table_row;

typedef struct mrd__table_sink {
    mrd__import *in;
    uint32_t file;
    mrd__shard *shard;
    uint64_t rows, inexact, bad;
    const char *times;    /* what the inexact ones are in the file; static */
    MRD__VEC(bool) named; /* by local thread: its names are told */
} mrd__table_sink;

/* Adds the file. clock: its name in the file's metadata, may be empty or unknown. */
void mrd__table_begin(mrd__table_sink *sink, mrd__import *in, const char *format, mrd__str clock);
void mrd__table_add(mrd__table_sink *sink, const mrd__table_row *row);
/* A string of the shard; what is not UTF-8 is mended and counted. 0 for an empty one. */
uint32_t mrd__table_string(mrd__table_sink *sink, mrd__str text);
/* Own args for a fact, 0 for none; what is no JSON object is kept as a text named args. */
uint64_t mrd__table_args(mrd__table_sink *sink, mrd__str text);
/* A row without a time. */
void mrd__table_bad(mrd__table_sink *sink);
/* Nearest ns of a double of microseconds; false when it is none. Counted as inexact. */
bool mrd__table_micros(mrd__table_sink *sink, double micros, int64_t *out);
void mrd__table_end(mrd__table_sink *sink);

struct mrd__duck;
/* Parquet: is a column of this name in the footer? bytes: the whole file. */
bool mrd__table_has_column(mrd__str bytes, const char *name);
/* Commands of a simulated run (commands.c). */
bool mrd__commands_in_parquet(mrd__str bytes);
MRD_MUST_CHECK mrd_status mrd__commands_read(mrd__import *in, struct mrd__duck *duck, int fd,
                                             mrd_error *error);

#endif
