/* Loss counters: imperfect data that did not stop the file from opening. One row of the list is
 * one cause: our name, the name Perfetto gives it in `stats` (or NULL), severity, and one line of
 * advice. A loss is counted per (file, cause, letter) with the place and text of its first hit. */
#ifndef MRD_MODEL_LOSS_H
#define MRD_MODEL_LOSS_H

#include "base/text.h"

typedef enum mrd__severity {
    MRD__INFO,
    MRD__DATA_LOSS,
    MRD__LOSS_ERROR
} mrd__severity;

/* X(identifier, "name", peer name or NULL, severity, "advice") */
#define MRD__LOSS_LIST(X)                                                                          \
    X(TRUNCATED_INPUT, "truncated_input", NULL, MRD__DATA_LOSS,                                    \
      "The file ends early; everything before the cut is shown. Record again if the end matters")  \
    X(SYNTAX_ERROR, "syntax_error", "json_tokenizer_failure", MRD__DATA_LOSS,                      \
      "Bytes that are not JSON were skipped up to the next event; mend the writer")                \
    X(BAD_EVENT, "bad_event", "json_tokenizer_failure", MRD__LOSS_ERROR,                           \
      "An element of traceEvents is not an event object; it was skipped")                          \
    X(MISSING_PHASE, "missing_phase", "json_tokenizer_failure", MRD__LOSS_ERROR,                   \
      "An event without ph cannot be placed; it was skipped")                                      \
    X(UNSUPPORTED_PHASE, "unsupported_phase", NULL, MRD__INFO,                                     \
      "Events of this phase are counted but not drawn")                                            \
    X(BAD_TIMESTAMP, "bad_timestamp", "json_tokenizer_failure", MRD__LOSS_ERROR,                   \
      "ts must be a finite decimal number of microseconds; the event was skipped")                 \
    X(MISSING_TIMESTAMP, "missing_timestamp", "json_tokenizer_failure", MRD__LOSS_ERROR,           \
      "An event without ts cannot be placed; it was skipped")                                      \
    X(TIME_OVERFLOW, "time_overflow", "json_tokenizer_failure", MRD__LOSS_ERROR,                   \
      "The time does not fit 64-bit nanoseconds; the event was skipped")                           \
    X(BAD_DURATION, "bad_duration", "json_parser_failure", MRD__LOSS_ERROR,                        \
      "dur must be a finite decimal number of microseconds; the event was skipped")                \
    X(MISSING_DURATION, "missing_duration", "json_parser_failure", MRD__LOSS_ERROR,                \
      "A complete event (ph X) needs dur; the event was skipped")                                  \
    X(NEGATIVE_DURATION, "negative_duration", "slice_negative_duration", MRD__LOSS_ERROR,          \
      "Kept with duration 0; the writer's end stamp is missing or from another clock")             \
    X(OVERLAPPING_COMPLETE_EVENTS, "overlapping_complete_events",                                  \
      "slice_spill_overlapping_complete_event", MRD__LOSS_ERROR,                                   \
      "Slices of one thread overlap without nesting; the later one is drawn on a row of its own")  \
    X(UNMATCHED_END, "unmatched_end", NULL, MRD__INFO,                                             \
      "An end event without a begin on its thread was ignored")                                    \
    X(MISPLACED_END, "misplaced_end", "misplaced_end_event", MRD__DATA_LOSS,                       \
      "An end closed an outer slice while inner ones were open; those were cut to its time")       \
    X(DEPTH_LIMIT, "depth_limit", "slice_max_depth_exceeded", MRD__DATA_LOSS,                      \
      "Slices nested deeper than the limit were dropped")                                          \
    X(ASYNC_MISSING_ID, "async_missing_id", "json_parser_failure", MRD__LOSS_ERROR,                \
      "An async event needs id or id2; it was skipped")                                            \
    X(ASYNC_UNMATCHED_END, "async_unmatched_end", NULL, MRD__INFO,                                 \
      "An async end without a begin of its category, id and scope was ignored")                    \
    X(COUNTER_MISSING_ARGS, "counter_missing_args", "json_parser_failure", MRD__LOSS_ERROR,        \
      "A counter event (ph C) without args has no value; it was skipped")                          \
    X(COUNTER_BAD_VALUE, "counter_bad_value", "json_parser_failure", MRD__LOSS_ERROR,              \
      "A counter series needs a finite number or a string holding one; the sample was skipped")    \
    X(FLOW_MISSING_ID, "flow_missing_id", "flow_invalid_id", MRD__LOSS_ERROR,                      \
      "A flow event needs id; it was skipped")                                                     \
    X(FLOW_START_WITHOUT_END, "flow_start_without_end", NULL, MRD__INFO,                           \
      "A flow start has no step or end of its category, name and id")                              \
    X(FLOW_END_WITHOUT_START, "flow_end_without_start", "flow_end_without_start", MRD__INFO,       \
      "A flow end has no start of its category, name and id")                                      \
    X(FLOW_STEP_WITHOUT_START, "flow_step_without_start", "flow_step_without_start", MRD__INFO,    \
      "A flow step has no start of its category, name and id")                                     \
    X(FLOW_UNBOUND, "flow_unbound", "flow_no_enclosing_slice", MRD__INFO,                          \
      "A flow point lies in no slice and none starts later on its thread")                         \
    X(FLOW_BACKWARDS, "flow_backwards", NULL, MRD__INFO,                                           \
      "A flow ends before it starts; the clocks of its two sides may differ")                      \
    X(FLOW_WITHOUT_DIRECTION, "flow_without_direction", "flow_without_direction", MRD__INFO,       \
      "bind_id needs flow_in or flow_out")                                                         \
    X(TIMESTAMP_OUTLIERS, "timestamp_outliers", NULL, MRD__INFO,                                   \
      "Events far outside the rest do not stretch the first view; zoom out to see them")           \
    X(NONSTANDARD_NUMBER, "nonstandard_number", NULL, MRD__INFO,                                   \
      "NaN and infinities are not JSON; kept as text in args")                                     \
    X(RAW_CONTROL_CHARACTER, "raw_control_character", NULL, MRD__INFO,                             \
      "Control characters stand raw in strings; kept")                                             \
    X(INVALID_UTF8, "invalid_utf8", NULL, MRD__DATA_LOSS,                                          \
      "Bytes that are not UTF-8 were replaced by U+FFFD")                                          \
    X(LONE_SURROGATE, "lone_surrogate", NULL, MRD__DATA_LOSS,                                      \
      "A surrogate escape without its mate was replaced by U+FFFD")                                \
    X(BOM, "bom", NULL, MRD__INFO, "The file starts with a byte order mark; skipped")              \
    X(DUPLICATE_KEY, "duplicate_key", NULL, MRD__INFO, "A key stands twice; the last value wins")  \
    X(ARGS_TOO_DEEP, "args_too_deep", NULL, MRD__DATA_LOSS,                                        \
      "Args nested deeper than the limit were dropped; the event is kept")                         \
    X(STRING_TOO_LONG, "string_too_long", NULL, MRD__LOSS_ERROR,                                   \
      "A string over the limit; the event was skipped")                                            \
    X(EVENT_TOO_LARGE, "event_too_large", NULL, MRD__LOSS_ERROR,                                   \
      "An event over the size limit was skipped")                                                  \
    X(STACK_FRAMES, "stack_frames_ignored", NULL, MRD__INFO,                                       \
      "Stack frames (sf, stack, stackFrames) are not shown yet")                                   \
    X(METADATA_UNUSABLE, "metadata_event_unusable", NULL, MRD__INFO,                               \
      "A name, label or sort index (phase M) without its value in args is not applied")            \
    X(METADATA_LIMIT, "metadata_limit", NULL, MRD__INFO,                                           \
      "Top-level values over the limit (number of rows, length, depth) were not kept")             \
    X(TRAILING_DATA, "trailing_data", NULL, MRD__INFO,                                             \
      "Bytes after the end of the trace were ignored")                                             \
    X(ZERO_PADDING, "zero_padding_ignored_bytes", NULL, MRD__INFO,                                 \
      "Zero bytes after the last gzip member were ignored")                                        \
    X(SIM_END_BELOW_LAST, "sim_end_below_last_event", NULL, MRD__INFO,                             \
      "sim_end_ns lies before the last event; the last event's time is taken")                     \
    X(INEXACT_TIME, "inexact_time", NULL, MRD__INFO, "Times were rounded to whole nanoseconds")    \
    X(CLOCK_WITHOUT_PATH, "clock_without_path", "clock_sync_failure_no_path", MRD__LOSS_ERROR,     \
      "Nothing relates the clock of these events to the trace's: record clock snapshots")          \
    X(TIME_BELOW_ZERO, "time_below_zero", "track_event_invalid_timestamp", MRD__LOSS_ERROR,        \
      "A real clock cannot read below zero; the event was skipped")                                \
    X(BAD_SNAPSHOT, "bad_clock_snapshot", "invalid_clock_snapshots", MRD__LOSS_ERROR,              \
      "A clock stands twice in a snapshot, or breaks its own rules; the snapshot was skipped")     \
    X(TRUNCATED_PACKET, "truncated_packet", NULL, MRD__DATA_LOSS,                                  \
      "The file ends inside a packet; everything before it is shown")                              \
    X(BAD_PACKET, "bad_packet", NULL, MRD__LOSS_ERROR,                                             \
      "Bytes that are no valid message were skipped")                                              \
    X(BAD_COMPRESSION, "bad_compressed_packets", NULL, MRD__LOSS_ERROR,                            \
      "Packets could not be inflated; what came before the error is shown")                        \
    X(PACKET_LOSS, "packet_loss", NULL, MRD__DATA_LOSS,                                            \
      "The writer lost packets: enlarge its buffer")                                               \
    X(NEEDS_STATE, "packets_skipped_need_incremental_state",                                       \
      "packet_skipped_seq_needs_incremental_state_invalid", MRD__DATA_LOSS,                        \
      "After a loss, packets wait until their sequence starts afresh")                             \
    X(MISSING_SEQUENCE, "missing_sequence", NULL, MRD__LOSS_ERROR,                                 \
      "A track event needs a packet sequence id; it was skipped")                                  \
    X(UNKNOWN_INTERNED, "unknown_interned_id", NULL, MRD__DATA_LOSS,                               \
      "An interned id was never defined on its sequence; the text is missing")                     \
    X(TRACK_CONFLICT, "track_conflict", "track_descriptor_conflicting_reservation",                \
      MRD__LOSS_ERROR, "A track is described twice in different ways; the first one counts")       \
    X(COUNTER_TRACK, "counter_without_track", NULL, MRD__LOSS_ERROR,                               \
      "A counter value needs a counter track; the sample was skipped")                             \
    X(UNSUPPORTED_PACKET, "unsupported_packet", NULL, MRD__INFO,                                   \
      "Packets of this kind are counted but not drawn")                                            \
    X(UNDESCRIBED_FIELD, "undescribed_field", NULL, MRD__INFO,                                     \
      "Typed fields that the trace does not describe are counted but not shown as args")           \
    X(UNKNOWN_MEMBER, "unknown_member", NULL, MRD__DATA_LOSS,                                      \
      "A member of an archive is in no known format; it was skipped, the rest is shown")           \
    X(BAD_MEMBER, "unreadable_member", NULL, MRD__LOSS_ERROR,                                      \
      "A member of an archive could not be read; it was skipped, the rest is shown")               \
    X(HIDDEN_MEMBER, "hidden_member", NULL, MRD__INFO,                                             \
      "Members with a part of their path that begins with a period are not looked at")             \
    X(DAMAGED_ARCHIVE, "damaged_archive", NULL, MRD__DATA_LOSS,                                    \
      "The archive is cut or damaged; what could be unpacked is shown")                            \
    X(DAMAGED_SESSION, "damaged_session", NULL, MRD__DATA_LOSS,                                    \
      "A file of the session is damaged; what stands before is shown. `meridian verify` says "     \
      "more")

typedef enum mrd__loss_id {
#define MRD__LOSS_ENUM(id, name, peer, severity, advice) MRD__LOSS_##id,
    MRD__LOSS_LIST(MRD__LOSS_ENUM)
#undef MRD__LOSS_ENUM
    MRD__LOSS_COUNT
} mrd__loss_id;

typedef struct mrd__loss_info {
    const char *name, *peer_name; /* peer_name may be NULL */
    mrd__severity severity;
    const char *advice;
} mrd__loss_info;
/* Static; id below MRD__LOSS_COUNT. */
const mrd__loss_info *mrd__loss_info_of(mrd__loss_id id);
const char *mrd__severity_name(mrd__severity severity); /* info, data_loss, error */

#define MRD__LOSS_EXCERPT 120 /* bytes of text kept beside the first hit */

typedef struct mrd__loss {
    mrd__loss_id id;
    char letter;      /* unsupported_phase: the phase; else 0 */
    uint32_t file;    /* index of the store's files */
    uint64_t count;   /* zero_padding_ignored_bytes, flow_backwards etc. count what they name */
    int64_t offset;   /* byte offset of the first hit in the (inflated) text, -1 unknown */
    int64_t worst_ns; /* flow_backwards: the most negative distance, else 0 */
    char excerpt[MRD__LOSS_EXCERPT + 1]; /* valid UTF-8, NUL-terminated; letter for phases */
} mrd__loss;

#endif
