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
} mrd__table_lane;

typedef struct mrd__table_flow {
    int64_t out, in; /* slices */
    uint32_t id;
} mrd__table_flow;

#endif
