/* Clocks of a trace while it is sealed: the graph, what is known and assumed of it, and what became
 * of every clock that facts were counted by. */
#ifndef MRD_OPEN_CLOCKS_H
#define MRD_OPEN_CLOCKS_H

#include "clock/graph.h"
#include "model/merge.h"
#include "open/sealing.h"

typedef struct mrd__clock_use { /* a clock of facts, or one that a file declares */
    uint32_t file;              /* of the store */
    uint32_t node;              /* UINT32_MAX: the graph is full */
    mrd__file_clock clock;
    int64_t unit_ns;
    _Atomic uint64_t facts, dropped;
} mrd__clock_use;

typedef struct mrd__clock_seen { /* clocks that were read together, or set equal */
    uint32_t node;
    int64_t value_ns;
    uint32_t snapshot;
    uint8_t origin; /* mrd__clock_origin */
} mrd__clock_seen;

typedef struct mrd__clocks {
    mrd__sealing *seal;
    const mrd__merge_plan *plan; /* NULL none */
    mrd__clock_graph *graph;
    uint32_t *writer_file;         /* [files of the store] */
    MRD__VEC(mrd__clock_use) uses; /* by (file, machine, sequence, id) once they are all known */
    MRD__VEC(mrd__clock_seen) seen;
    uint32_t snapshots;
    uint32_t target; /* node of trace time */
    mrd__file_clock target_clock;
    uint32_t target_file;  /* of the store */
    MRD__VEC(uint32_t) up; /* [nodes] sets of connected nodes, by union and find */
} mrd__clocks;

/* ---- seal_clock.c ---- */

/* The node of a clock of a file. A file with one clock (manifest) has only its private one. */
uint32_t mrd__clocks_node(mrd__clocks *c, uint32_t file, mrd__file_clock clock);
/* Remember and tell the graph that these were read together. */
void mrd__clocks_observe(mrd__clocks *c, const uint32_t *nodes, const int64_t *values_ns,
                         size_t count, mrd__clock_origin origin);
bool mrd__clocks_connected(mrd__clocks *c, uint32_t a, uint32_t b);
/* The use of a clock of a shard; made when it is new. Borrowed until the next. */
mrd__clock_use *mrd__clocks_use(mrd__clocks *c, const mrd__shard *shard, mrd__file_clock clock);
/* The file of the writer that became this one of the store. */
uint32_t mrd__clocks_writer_file(const mrd__clocks *c, uint32_t file);

/* ---- seal_assume.c ---- */

/* What nothing says, in the order of spec merge.md section 2. */
void mrd__clocks_assume(mrd__clocks *c);

/* ---- seal_convert.c ---- */

/* Ticks of all facts become ns of trace time; what cannot is dropped and counted. */
void mrd__clocks_convert(mrd__clocks *c);

/* ---- seal_align.c ---- */

/* --align start and collectives: whole files are shifted, and it is told by how much. */
void mrd__clocks_align(mrd__clocks *c);

/* ---- seal_clock_rows.c ---- */

/* Clocks, paths and readings for the store. */
void mrd__clocks_keep(mrd__clocks *c);

#endif
