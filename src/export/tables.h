/* One function a table of `dump`. Each writes the rows of its table in the order of the contract:
 * by time, then file order; processes, threads and tracks in display order. */
#ifndef MRD_EXPORT_TABLES_H
#define MRD_EXPORT_TABLES_H

#include "export/plain.h"

typedef mrd_status (*mrd__table_fn)(const mrd__store *store, mrd__plain *plain, mrd_error *error);

mrd_status mrd__dump_slices(const mrd__store *store, mrd__plain *plain, mrd_error *error);
mrd_status mrd__dump_args(const mrd__store *store, mrd__plain *plain, mrd_error *error);
mrd_status mrd__dump_instants(const mrd__store *store, mrd__plain *plain, mrd_error *error);
mrd_status mrd__dump_counters(const mrd__store *store, mrd__plain *plain, mrd_error *error);
mrd_status mrd__dump_flows(const mrd__store *store, mrd__plain *plain, mrd_error *error);
mrd_status mrd__dump_processes(const mrd__store *store, mrd__plain *plain, mrd_error *error);
mrd_status mrd__dump_threads(const mrd__store *store, mrd__plain *plain, mrd_error *error);
mrd_status mrd__dump_tracks(const mrd__store *store, mrd__plain *plain, mrd_error *error);
mrd_status mrd__dump_metadata(const mrd__store *store, mrd__plain *plain, mrd_error *error);
mrd_status mrd__dump_losses(const mrd__store *store, mrd__plain *plain, mrd_error *error);
mrd_status mrd__dump_machines(const mrd__store *store, mrd__plain *plain, mrd_error *error);
mrd_status mrd__dump_track_origins(const mrd__store *store, mrd__plain *plain, mrd_error *error);
mrd_status mrd__dump_files(const mrd__store *store, mrd__plain *plain, mrd_error *error);
mrd_status mrd__dump_clock_values(const mrd__store *store, mrd__plain *plain, mrd_error *error);
mrd_status mrd__dump_events(const mrd__store *store, mrd__plain *plain, mrd_error *error);

/* Columns of the loss table; info writes the same rows as objects. */
#define MRD__LOSS_COLUMNS "name,peer_name,severity,count,file,offset,excerpt,advice"
/* Cells of one loss. */
void mrd__dump_loss_cells(const mrd__store *store, const mrd__loss *loss, mrd__plain *plain);

/* True when the value stands in JSON as it is; strings, NaN and infinities want quotes. */
bool mrd__metadata_is_json(const mrd__metadata *one, mrd__str value);

/* A counter's own name: the track's is "name series". */
mrd__str mrd__counter_name(const mrd__store *store, const mrd__track *track);

/* Rank to index: out[rank] is the row of that rank. Freed by the caller with mrd__free. */
uint32_t *mrd__by_rank(const uint32_t *rank, uint64_t count);
/* Track of each range of [0, count): the sample columns are grouped by track. For each index in
 * ascending or any order, use mrd__track_of. Freed by the caller. */
typedef struct mrd__track_ranges {
    uint64_t *first; /* ascending */
    uint32_t *track;
    size_t count;
} mrd__track_ranges;
/* Of the non-empty tracks of a kind that have no event key. */
mrd__track_ranges mrd__track_ranges_of(const mrd__store *store, mrd__track_kind kind);
void mrd__track_ranges_reset(mrd__track_ranges *ranges);
uint32_t mrd__track_of(const mrd__track_ranges *ranges, uint64_t index);

#endif
