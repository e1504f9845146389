/* What the importer knows while it walks the packets of one file.
 *
 * The file is walked twice. First only descriptors are taken, so that an event may stand before the
 * track it names; then everything else, each packet written as facts at once. Scheduling is kept
 * until the end and sorted: the bundles of the CPUs stand one behind the other. */
#ifndef MRD_INGEST_PERFETTO_STATE_H
#define MRD_INGEST_PERFETTO_STATE_H

#include "ingest/perfetto/fields.h"
#include "ingest/perfetto/limits.h"
#include "ingest/perfetto/schema.h"
#include "ingest/perfetto/wire.h"
#include "model/writer.h"

/* ---- One map for all that is looked up by number ---- */

typedef enum mrd__pf_kind {
    MRD__PF_CATEGORY = 1, /* of a sequence: interned ids to string ids */
    MRD__PF_EVENT_NAME,
    MRD__PF_ANNOTATION_NAME,
    MRD__PF_STRING_VALUE,
    MRD__PF_VALUE_TYPE,
    MRD__PF_LOG_BODY,
    MRD__PF_SOURCE,
    MRD__PF_NATIVE,
    MRD__PF_LAST_TICK, /* incremental clocks: index of the sequence's ticks + 1 */
    MRD__PF_SEQUENCE,  /* of the file: numbers to indices + 1 */
    MRD__PF_TRACK,
    MRD__PF_PROCESS,
    MRD__PF_PROCESS_USES, /* how many processes of this pid there were */
    MRD__PF_THREAD,
    MRD__PF_THREAD_USES,
    MRD__PF_TID_PROCESS,        /* tid to its process */
    MRD__PF_OWN_TRACK,          /* tracks made here: CPUs, states, counters */
    MRD__PF_PROCESS_IDENT_USES, /* of ids that are no int32 */
    MRD__PF_THREAD_IDENT_USES,
} mrd__pf_kind;

typedef struct mrd__pf_slot {
    uint64_t key;
    uint32_t kind, scope; /* scope: whatever else tells keys apart */
    uint32_t value;
} mrd__pf_slot;
typedef struct mrd__pf_map { /* zeroed is empty */
    mrd__pf_slot *slots;
    size_t size, used;
} mrd__pf_map;
/* The value, 0 when new; borrowed until the next call that adds. */
uint32_t *mrd__pf_map_at(mrd__pf_map *map, mrd__pf_kind kind, uint32_t scope, uint64_t key);
/* The value, 0 when there is none. */
uint32_t mrd__pf_map_find(const mrd__pf_map *map, mrd__pf_kind kind, uint32_t scope, uint64_t key);
void mrd__pf_map_reset(mrd__pf_map *map);

/* ---- Processes, threads, tracks ---- */

typedef enum mrd__pf_rank { /* whose name counts */
    MRD__PF_NAME_NONE,
    MRD__PF_NAME_FTRACE,
    MRD__PF_NAME_TREE,
    MRD__PF_NAME_CMDLINE,
    MRD__PF_NAME_DESCRIPTOR,
} mrd__pf_rank;

typedef struct mrd__pf_lane { /* a process or a thread */
    uint32_t local;           /* of the shard */
    uint32_t process;         /* index; a thread's, or its own */
    uint32_t name, labels;    /* string ids */
    int64_t sort_index;
    mrd__pf_rank rank;
    bool has_sort, described; /* a descriptor with a uuid stands for it */
    uint64_t uuid;
    mrd__ident ident;
} mrd__pf_lane;

typedef struct mrd__pf_track {
    uint64_t uuid, parent_uuid;
    uint32_t local;           /* MRD__NONE until it is used */
    uint32_t process, thread; /* indices or MRD__NONE: what the descriptor says it is */
    uint32_t name, unit;      /* string ids */
    bool described, keeps_last_name, resolving, counter, incremental, count_type, time_type;
    int64_t multiplier;
    int64_t latest; /* of an incremental counter */
    uint32_t state; /* of the sequence that latest belongs to */
} mrd__pf_track;

typedef MRD__VEC(uint64_t) mrd__pf_list;

/* ---- Sequences ---- */

typedef struct mrd__pf_sequence {
    uint32_t machine, id;
    bool valid;     /* has incremental state */
    uint32_t state; /* changes with every fresh start */
    mrd__pf_map interned;
    mrd__pf_list sources; /* three each: file, function (string ids), line; mapping, address, 0 */
    MRD__VEC(int64_t) ticks;
    bool has_track, has_clock, has_thread;
    uint64_t track_uuid;
    uint32_t clock_id;
    mrd__pf_list counter_uuids, double_uuids;
    int64_t pid, tid; /* legacy default thread */
    int64_t reference_us, thread_time_us, instructions;
} mrd__pf_sequence;

typedef struct mrd__pf_packet {
    int64_t offset; /* in the file */
    bool has_timestamp, has_clock, cleared, needs_state;
    int64_t timestamp;
    uint32_t clock_id, sequence_id, machine, dropped;
    mrd__pf_sequence *sequence; /* NULL without an id */
} mrd__pf_packet;

typedef struct mrd__pf_sched { /* a switch or a waking */
    int64_t ts;
    uint32_t order;
    uint32_t machine, cpu;
    bool waking;
    int32_t prev_pid, pid, prio;
    int64_t prev_state;
    uint32_t comm; /* of pid; string id */
    uint32_t clock_id;
} mrd__pf_sched;

typedef struct mrd__pf {
    mrd__writer *writer;
    mrd__shard *shard;
    uint32_t file;
    uint32_t states;
    uint32_t machine;       /* of the packet at hand */
    uint64_t order, facts;  /* of the chunk */
    bool describing;        /* the first walk */
    uint32_t primary_clock; /* 0: not said */
    mrd__pf_map map;
    MRD__VEC(mrd__pf_sequence *) sequences;
    MRD__VEC(mrd__pf_lane) processes, threads;
    MRD__VEC(mrd__pf_track) tracks;
    MRD__VEC(mrd__pf_sched) sched;
    mrd__buf text, json;
    mrd__pf_schema schema;
    int64_t offset; /* of the packet at hand */
} mrd__pf;

/* ---- state.c ---- */

void mrd__pf_reset(mrd__pf *pf);
/* A loss at the packet at hand. text may be NULL. */
void mrd__pf_loss(mrd__pf *pf, mrd__loss_id id, const char *text);
/* Any bytes as a string id: what is not UTF-8 is mended and counted. */
uint32_t mrd__pf_string(mrd__pf *pf, mrd__str text);
/* Valid UTF-8, mended where needed; borrowed from text or from pf->text. */
mrd__str mrd__pf_utf8(mrd__pf *pf, mrd__str text);
uint32_t mrd__pf_literal(mrd__pf *pf, const char *text);
mrd__pf_sequence *mrd__pf_sequence_of(mrd__pf *pf, uint32_t machine, uint32_t id);
/* What is made from here on belongs to this machine. */
void mrd__pf_set_machine(mrd__pf *pf, uint32_t machine);
/* A fresh start of the incremental state. */
void mrd__pf_clear(mrd__pf *pf, mrd__pf_sequence *sequence);
/* A fact of this phase on a local thread or track; ts of the packet's clock. */
mrd__fact *mrd__pf_push(mrd__pf *pf, mrd__phase phase, uint32_t local, int64_t ts);

/* ---- lanes.c ---- */

/* The process of a pid, the thread of a tid in it: the one that uses the number now. Indices. */
uint32_t mrd__pf_process(mrd__pf *pf, uint32_t machine, int64_t pid);
uint32_t mrd__pf_thread(mrd__pf *pf, uint32_t process, int64_t tid);
/* The thread of a tid whose process may be unknown. */
uint32_t mrd__pf_thread_of_tid(mrd__pf *pf, uint32_t machine, int64_t tid);
void mrd__pf_set_tgid(mrd__pf *pf, uint32_t machine, int64_t tid, int64_t tgid);
void mrd__pf_name_lane(mrd__pf_lane *lane, mrd__pf_rank rank, uint32_t name);
/* The number is used again: the next process or thread of it. */
uint32_t mrd__pf_next_process(mrd__pf *pf, uint32_t machine, int64_t pid);
uint32_t mrd__pf_next_thread(mrd__pf *pf, uint32_t process, int64_t tid);
/* Names and sort indices of all as facts; once, at the end. */
void mrd__pf_write_lanes(mrd__pf *pf);

/* ---- tracks.c ---- */

/* The track of a uuid, made when it is new. Borrowed until the next. */
mrd__pf_track *mrd__pf_track_of(mrd__pf *pf, uint64_t uuid);
/* Its local index for facts. */
uint32_t mrd__pf_track_local(mrd__pf *pf, uint64_t uuid);
void mrd__pf_describe_track(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message);
void mrd__pf_describe_process(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message);
void mrd__pf_describe_thread(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message);
/* The thread of a sequence's own descriptor, for its default. */
void mrd__pf_sequence_thread(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str message);
/* A track made here, below an owner (local thread or MRD__NONE); kind and key tell it apart. */
uint32_t mrd__pf_own_track(mrd__pf *pf, uint32_t owner, uint64_t key, const char *name,
                           const char *unit);

/* ---- clocks.c ---- */

void mrd__pf_snapshot(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message);
/* Rounds in which the clocks of another machine were read between those of the host. */
void mrd__pf_remote_sync(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message);
/* primary_trace_clock of a snapshot, 0 without. */
uint32_t mrd__pf_primary(mrd__str message);
/* Turn a difference on an incremental clock into a reading. Every packet that is not a snapshot
 * counts, whatever it holds: the writer counted it too. */
void mrd__pf_advance_clock(mrd__pf *pf, mrd__pf_packet *packet);
/* Choose the clock for the packet's facts; returns the tick. */
int64_t mrd__pf_packet_time(mrd__pf *pf, const mrd__pf_packet *packet);
mrd__file_clock mrd__pf_clock(const mrd__pf_packet *packet, uint32_t id);
/* The clock that the file's own time is: what is said, else BOOTTIME. */
uint32_t mrd__pf_trace_clock(const mrd__pf *pf);

/* ---- events.c, args.c, interned.c ---- */

void mrd__pf_intern(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str message);
void mrd__pf_defaults(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str message);
/* String id of an interned text; what is unknown is counted and spelled unknown(iid). */
uint32_t mrd__pf_interned(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__pf_kind kind, uint64_t iid);
void mrd__pf_event(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message);
/* Append the member of one debug annotation to pf->json, which holds '{' and members so far.
 * depth: of the member, from 1. */
void mrd__pf_annotation(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str message, unsigned depth);
void mrd__pf_comma(mrd__pf *pf);

/* ---- typed.c ---- */

/* Whether a field of TrackEvent is one that mrd__pf_typed looks at. */
bool mrd__pf_is_typed(uint32_t number);
/* Another id than the descriptor's number, for a process or thread that no fact names yet. */
void mrd__pf_reident_process(mrd__pf *pf, uint32_t machine, uint32_t process, mrd__ident ident);
void mrd__pf_reident_thread(mrd__pf *pf, uint32_t thread, mrd__ident ident);
/* Append the members of an event's typed fields to pf->json. */
void mrd__pf_typed(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str event);
/* Append a message of a described type as an object; false, and nothing, when no field of it is
 * described. */
bool mrd__pf_message(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str type, mrd__str message,
                     unsigned depth);
/* Append the members file_name, function_name and, where there is one, line_number. */
void mrd__pf_source(mrd__pf *pf, uint32_t file, uint32_t function, uint64_t line);

/* ---- system.c, sched.c ---- */

/* What the packet's machine is. */
void mrd__pf_system_info(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message);
void mrd__pf_process_tree(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message);
void mrd__pf_sys_stats(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message);
void mrd__pf_ftrace(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message);
/* CPU lanes and thread states of all that was seen; once, at the end. */
void mrd__pf_write_sched(mrd__pf *pf);

/* ---- compressed.c ---- */

/* Append what can be inflated; false when it is not whole. */
bool mrd__pf_inflate(mrd__str packed, mrd__buf *out);
bool mrd__pf_unzstd(mrd__str packed, mrd__buf *out);

/* ---- packets.c ---- */

/* Walk a run of packets. offset: where it stands in the file, or of the packet it came from when
 * inside is above 0. */
void mrd__pf_packets(mrd__pf *pf, mrd__str bytes, int64_t offset, unsigned inside);

#endif
