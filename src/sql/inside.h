/* The database from inside: what the tables share. */
#ifndef MRD_SQL_INSIDE_H
#define MRD_SQL_INSIDE_H

#include "duck/api.h"
#include "duck/duck.h"
#include "model/events.h"
#include "sql/sql.h"

#include <pthread.h>

/* A dictionary column: ENUM codes, members in byte order of their texts, or string views where the
 * texts are too many or hold a zero byte. */
typedef struct mrd__sql_words {
    duckdb_logical_type type;
    size_t count;    /* members */
    uint8_t width;   /* bytes of a code; 0: string views */
    uint32_t *codes; /* by string id of the store; NULL for string views */
    uint32_t event_codes[MRD__CAT_COUNT];
} mrd__sql_words;

struct mrd__sql {
    const mrd__duck_api *api;
    const mrd__store *store;
    const mrd__events *events; /* of the store, or NULL */
    duckdb_database database;
    bool files;
    mrd__sql_words names, categories;
    /* SQL `slice`: [plain slices][intervals of event records][instants][instants of records] */
    uint64_t first_interval, first_instant, first_event_instant;
    /* A row group of a track that overlaps the first one is a track of its own here, as it is in
     * the original: its id follows those of the store. */
    uint32_t *row_tracks;       /* [rows.row_count] */
    MRD__VEC(uint32_t) spilled; /* first row of each such group */
    uint32_t *interval_keys;    /* event key of each row of events->intervals */
    uint32_t *event_tracks;     /* track of each event key, MRD__NONE for none */
    MRD__VEC(uint32_t) instant_tracks, counter_tracks; /* not empty, by first row */
    MRD__VEC(uint64_t) overlapped;                     /* slices with MRD__SLICE_OVERLAP */
};

/* Dictionaries: names.c. */
void mrd__sql_words_make(mrd__sql *sql);
void mrd__sql_words_reset(const mrd__duck_api *api, mrd__sql_words *words);

/* Statements of our own, ended by NULL, that make views and macros. */
extern const char *const mrd__sql_views[];

#endif
