/* The one door into a store. Importers write facts: a tick in a named clock, a phase, names, ids,
 * args, losses; they interpret nothing else and know nothing of each other.
 *
 * A writer collects one trace of one or more files. Each reading thread owns a shard per file it
 * works on (private string pool, private fact lists), so that nothing is shared while reading.
 * A shard's facts belong to chunks; chunks have an order number, and the chunks of a file, over all
 * its shards, are joined in that order at sealing: the store does not depend on which thread read
 * which chunk. A chunk can be taken back (its facts, side records, counts and losses vanish).
 */
#ifndef MRD_MODEL_WRITER_H
#define MRD_MODEL_WRITER_H

#include "model/store.h"

typedef struct mrd__writer mrd__writer;
typedef struct mrd__shard mrd__shard;

typedef enum mrd__phase {
    MRD__COMPLETE,         /* X: ts, dur */
    MRD__BEGIN,            /* B */
    MRD__END,              /* E: name or category 0 where absent */
    MRD__INSTANT,          /* i I R: flags hold the mrd__scope */
    MRD__COUNTER,          /* one series of a C: value; name is the counter's (with its id where it
                            has one), extra is the string id of the series */
    MRD__ASYNC_BEGIN,      /* b: extra is a side record */
    MRD__ASYNC_END,        /* e */
    MRD__ASYNC_INSTANT,    /* n */
    MRD__OLD_ASYNC_START,  /* S: matched by (category, name, id) of the process, steps inside */
    MRD__OLD_ASYNC_STEP,   /* T, p */
    MRD__OLD_ASYNC_FINISH, /* F */
    MRD__FLOW_START,       /* s: extra is a side record */
    MRD__FLOW_STEP,        /* t */
    MRD__FLOW_END,         /* f: flag MRD__BIND_ENCLOSING for bp "e" */
    MRD__PROCESS_NAME,     /* M: name */
    MRD__THREAD_NAME,
    MRD__PROCESS_LABELS,
    MRD__PROCESS_SORT, /* dur: the index */
    MRD__THREAD_SORT,
    MRD__NO_FACT, /* taken back one by one: its time cannot be told */
} mrd__phase;

enum { /* fact flags; INSTANT: the low two bits are the mrd__scope */
    MRD__SCOPE_MASK = 3,
    MRD__BIND_ENCLOSING = 4,
    MRD__ARGS_OWNED = 8,  /* args lies in the shard's own text, not in the mapped file */
    MRD__ARGS_PLACE = 16, /* there are no args: args is the event's own offset + 1 in the text,
                             kept only as the place of losses found while sealing */
};

/* 40 bytes. ts is a tick of the clock set by mrd__shard_clock, exact; where none is set, ns on the
 * file's private timeline. dur is ns. */
typedef struct mrd__fact {
    int64_t ts;
    union {
        int64_t dur;  /* COMPLETE, *_SORT */
        double value; /* COUNTER */
    };
    uint32_t name, category; /* shard-local string ids, 0 none */
    uint32_t thread;         /* shard-local: mrd__shard_thread or mrd__shard_track */
    uint32_t extra;          /* index + 1 of a side record, or the series of a COUNTER; 0 none */
    uint64_t args : 48; /* offset + 1 of the args object's '{' in the file or own text; 0 none */
    uint64_t phase : 8;
    uint64_t flags : 8;
} mrd__fact;

enum {                  /* side flags */
    MRD__ID_LOCAL = 1,  /* id2.local: per process */
    MRD__ID_GLOBAL = 2, /* id2.global (and plain id with b/e/n) */
    MRD__FLOW_OUT = 4,  /* bind_id with flow_out */
    MRD__FLOW_IN = 8,
    MRD__FLOW_CHAIN = 16, /* bind_id passes from slice to slice in time order */
    MRD__FLOW_LAST = 32,  /* with FLOW_CHAIN: and ends here */
    MRD__FLOW_HALF = 64,  /* bind_id is mrd__shard_half's: one end of one arrow, told whole */
    MRD__ID_THREAD = 128, /* the id is one of the fact's thread */
};
typedef struct mrd__side {
    uint32_t id, scope; /* string ids: id text as written (numbers in decimal), scope or 0 */
    uint32_t bind_id;   /* flow v2, 0 none */
    uint32_t flags;
    uint32_t next; /* index + 1 of a side that only binds one more flow; 0 none */
} mrd__side;

/* One end of an arrow of which both ends and all names are known: it meets its other end and no
 * other flow, whatever their ids. */
typedef struct mrd__flow_half {
    uint32_t pair;               /* number of the arrow in its file, not 0 */
    uint32_t name, category, id; /* string ids */
    int64_t delta_ns;            /* time of this end less the slice's start */
} mrd__flow_half;

/* A track that is not a thread's own. Its slices pair and nest as those of a thread; its instants
 * and its counter samples stand on tracks of their own beside them. */
typedef struct mrd__track_spec {
    uint32_t owner;   /* local thread; with tid NONE: the process; MRD__NONE: the trace */
    uint32_t parent;  /* local track it stands below, MRD__NONE; chains may not close */
    uint32_t name;    /* string ids; 0: the owner's name */
    uint32_t unit;    /* of its counter samples */
    uint32_t machine; /* without an owner: as the file numbers it, 0 its own */
    bool async;       /* its slices may overlap beside each other, as async ones do */
} mrd__track_spec;

/* A clock as a file names it. */
typedef struct mrd__file_clock {
    uint32_t machine;  /* 0 the host */
    uint32_t sequence; /* 0: not scoped to a writer sequence */
    uint32_t id;       /* clock/graph.h: 1 REALTIME, 3 MONOTONIC, 6 BOOTTIME, ... */
} mrd__file_clock;

typedef struct mrd__clock_reading {
    mrd__file_clock clock;
    int64_t ticks;
    int64_t unit_ns; /* of a tick; of facts on this clock too */
} mrd__clock_reading;

/* What a file says of a machine. Texts are copied; NULL and 0 where nothing is said. */
typedef struct mrd__machine_facts {
    const char *name, *sysname, *release, *version, *arch;
    uint32_t num_cpus;
    bool by_name; /* told from others by its name, not by its number: all of that name are one */
} mrd__machine_facts;

mrd__writer *mrd__writer_create(void);
void mrd__writer_destroy(mrd__writer **writer); /* of an unsealed writer; accepts NULL */

/* Add an input. format is static text; the map moves into the writer (it is closed with the store;
 * pass NULL for streams). Returns the file's index. Not thread-safe. */
uint32_t mrd__writer_add_file(mrd__writer *writer, const char *path, const char *format,
                              uint64_t bytes, mrd__map *map);
mrd__file *mrd__writer_file(mrd__writer *writer, uint32_t file); /* borrowed until sealing */
/* The clock that a file counts its time by. The first file by name that has one gives the trace's;
 * facts on other clocks are converted at sealing. Not thread-safe. */
void mrd__writer_clock(mrd__writer *writer, uint32_t file, mrd__file_clock clock);
/* What is known of a machine as the file numbers it (0: its own). Later calls fill and replace
 * members. Not thread-safe. */
void mrd__writer_machine(mrd__writer *writer, uint32_t file, uint32_t machine,
                         const mrd__machine_facts *facts);
/* The boot that the file's MONOTONIC and BOOTTIME count from. Not thread-safe. */
void mrd__writer_boot(mrd__writer *writer, uint32_t file, const char *boot_id);
/* Move all of other, which was read beside it, behind the files of writer: file i of other becomes
 * the returned index + i. Not both may hold event records. Destroys other. Not thread-safe. */
uint32_t mrd__writer_join(mrd__writer *writer, mrd__writer **other);
/* How sealing places the files on one timeline (model/merge.h); borrowed until sealed, NULL: by the
 * rules alone. */
struct mrd__merge_plan;
void mrd__writer_plan(mrd__writer *writer, const struct mrd__merge_plan *plan);

/* A new shard of a file; owned by the writer. Thread-safe. */
mrd__shard *mrd__writer_shard(mrd__writer *writer, uint32_t file);

/* ---- One thread at a time per shard ---- */

/* Facts from here on belong to the chunk of this order number (ascending within a shard, unique
 * within a file). Closes the chunk before it. */
void mrd__shard_chunk(mrd__shard *shard, uint64_t order);
/* Take the current chunk back: everything since mrd__shard_chunk but strings and threads. */
void mrd__shard_discard(mrd__shard *shard);
/* For readers that find out later which chunks count: keep what taking back closed ones needs.
 * Before the first chunk. */
void mrd__shard_keep_history(mrd__shard *shard);
/* Take back all chunks of this order and above, closed ones too, of a shard that keeps history.
 * position: of the file, where what is taken back begins: no chunk that stays has used a string
 * there or behind. The last call on the shard: no chunk may follow. */
void mrd__shard_discard_from(mrd__shard *shard, uint64_t order, uint64_t position);

/* Intern valid UTF-8; empty text is 0. position: byte offset in the file of this use (ids of the
 * sealed store are numbered by first use, whatever the threads). */
uint32_t mrd__shard_string(mrd__shard *shard, const char *text, size_t size, uint64_t position);
/* Text of a shard-local string id; borrowed until the next mrd__shard_string. */
mrd__str mrd__shard_text(const mrd__shard *shard, uint32_t id);
/* Local index of (pid, tid). Text idents use shard-local string ids. pid kind NONE: the process
 * without an id; tid NONE: the process itself. A (pid, tid) makes a thread in the store only when a
 * kept fact of its thread uses it. */
uint32_t mrd__shard_thread(mrd__shard *shard, mrd__ident pid, mrd__ident tid);
/* Processes asked for from here on run on this machine, as the file numbers it; 0 at first. */
void mrd__shard_machine(mrd__shard *shard, uint32_t machine);
uint32_t mrd__shard_side(mrd__shard *shard, mrd__side side); /* returns index + 1 */
/* Index + 1, for the bind_id of a side with MRD__FLOW_HALF. Stays when its chunk is taken back. */
uint32_t mrd__shard_half(mrd__shard *shard, mrd__flow_half half);
/* A new track, to be named by facts in the place of a thread. */
uint32_t mrd__shard_track(mrd__shard *shard);
/* What is said of it: to read and fill, borrowed until the next mrd__shard_track. */
mrd__track_spec *mrd__shard_track_spec(mrd__shard *shard, uint32_t track);
/* Facts from here on carry ticks of this clock. */
void mrd__shard_clock(mrd__shard *shard, mrd__file_clock clock);
/* These clocks were read together. Counts for all facts of the file, earlier ones too. */
void mrd__shard_snapshot(mrd__shard *shard, const mrd__clock_reading *readings, size_t count);
/* Append; returns the zeroed fact to fill (borrowed until the next push). */
mrd__fact *mrd__shard_push(mrd__shard *shard);
/* Keep args text that lies in no mapped file; returns offset + 1 for fact.args with
 * MRD__ARGS_OWNED. The text must be one whole JSON object. */
uint64_t mrd__shard_own_args(mrd__shard *shard, const char *text, size_t size);
/* Count an event of the file by its phase letter (before any loss; info's events and phases). */
void mrd__shard_count(mrd__shard *shard, unsigned char letter);
/* Count a loss. excerpt may be NULL; it is cut and made valid UTF-8. letter: unsupported_phase. */
void mrd__shard_loss(mrd__shard *shard, mrd__loss_id id, char letter, uint64_t count,
                     int64_t offset, const char *excerpt, size_t excerpt_size);
void mrd__shard_metadata(mrd__shard *shard, mrd__str key, mrd__str value, uint8_t json_type);

/* ---- What sealing reads (src/open, src/pairing): joined facts in file order ---- */

/* Losses found after reading (pairing, flows, outliers). Thread-safe. */
void mrd__writer_loss(mrd__writer *writer, uint32_t file, mrd__loss_id id, uint64_t count,
                      int64_t offset, mrd__str excerpt, int64_t worst_ns);

/* Event records of the trace, moved in (model/events.h); one event trace per store. */
void mrd__writer_events(mrd__writer *writer, uint32_t file, struct mrd__events *events);

#endif
