/* Table folders from inside. */
#ifndef MRD_INGEST_TABLE_FOLDER_H
#define MRD_INGEST_TABLE_FOLDER_H

#include "duck/duck.h"
#include "ingest/ingest.h"

/* A track of the folder as facts name it. */
typedef struct mrd__table_lane {
    uint32_t local;        /* thread or track */
    uint32_t name, series; /* counters that are a process's */
    mrd__scope scope;      /* instants */
    bool own;              /* local is a described track, made of the row below */
    uint32_t owner, kind;  /* of it: local thread or MRD__NONE; mrd__table_track_kind */
    uint32_t parent;       /* local track or MRD__NONE */
} mrd__table_lane;

typedef enum mrd__table_track_kind { /* in the order in which parts of one track stand */
    MRD__TABLE_SLICES,
    MRD__TABLE_ASYNC,
    MRD__TABLE_COUNTER,
    MRD__TABLE_INSTANT,
} mrd__table_track_kind;

typedef struct mrd__table_flow {
    int64_t out, in;       /* slices */
    int64_t ts_out, ts_in; /* of the arrow's ends, ns */
    uint32_t pair;         /* place in the table + 1 */
    uint32_t name, category, id;
} mrd__table_flow;

typedef struct mrd__table_machine { /* by machine_id */
    int64_t raw_id;
    uint32_t number; /* as facts name it */
} mrd__table_machine;

typedef struct mrd__table_process { /* by upid */
    mrd__ident pid;
    uint32_t local, machine; /* thread of the process itself; number */
} mrd__table_process;

typedef struct mrd__table_thread { /* by utid */
    mrd__ident tid;
    uint32_t local, process; /* process: upid */
} mrd__table_thread;

#endif
