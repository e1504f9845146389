/* How the files of a trace are placed on one timeline: what a manifest and options say. Numbers of
 * files are those of the writer, machines are numbered as in their file. */
#ifndef MRD_MODEL_MERGE_H
#define MRD_MODEL_MERGE_H

#include "model/writer.h"

/* When `clock` of `file` reads t, `to` of `to_file` reads t + offset_ns. */
typedef struct mrd__merge_edge {
    uint32_t file, to_file;
    mrd__file_clock clock, to;
    int64_t offset_ns;
} mrd__merge_edge;

/* A name for a machine of a file; machines of equal names are one. machine UINT32_MAX: whatever
 * machine the file says. */
typedef struct mrd__merge_machine {
    uint32_t file, machine;
    const char *name; /* borrowed */
} mrd__merge_machine;

typedef enum mrd__align {
    MRD__ALIGN_REALTIME,    /* by what is known, then REALTIME, then equal clocks */
    MRD__ALIGN_START,       /* every file's first event at the reference's */
    MRD__ALIGN_COLLECTIVES, /* by the ends of collectives that ranks share */
    MRD__ALIGN_NONE,        /* times as the files have them: equal clocks are equal */
} mrd__align;

typedef struct mrd__merge_plan {
    bool has_trace_time;
    uint32_t trace_file; /* MRD__NONE: the first that has the clock */
    mrd__file_clock trace_clock;
    mrd__merge_edge *edges;
    size_t edge_count;
    mrd__merge_machine *machines; /* in the order of mention */
    size_t machine_count;
    bool *pinned;      /* [files] all its clocks are its private timeline; NULL none */
    bool *linear_file; /* [files] interpolate between its snapshots; NULL none */
    size_t file_count;
    bool linear;       /* interpolate between all snapshots */
    bool global_flows; /* flow ids of different files meet */
    mrd__align align;
} mrd__merge_plan;

#endif
