#include "ingest/perfetto/encode.h"

#include <string.h>

#include "ingest/perfetto/fields.h"
#include "ingest/perfetto/schema.h"

void put_varint(mrd__buf *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        mrd__buf_char(out, (char)(value | 0x80));
    mrd__buf_char(out, (char)value);
}

void put_uint(mrd__buf *out, uint32_t number, uint64_t value)
{
    put_varint(out, PB_VARINT(number));
    put_varint(out, value);
}

void put_fixed(mrd__buf *out, uint32_t number, uint64_t value)
{
    put_varint(out, PB_FIXED64(number));
    for (unsigned i = 0; i < 8; i++)
        mrd__buf_char(out, (char)(value >> 8 * i));
}

void put_text(mrd__buf *out, uint32_t number, const char *text)
{
    put_varint(out, PB_BYTES(number));
    put_varint(out, strlen(text));
    mrd__buf_text(out, text);
}

void put_message(mrd__buf *out, uint32_t number, mrd__buf *message)
{
    put_varint(out, PB_BYTES(number));
    put_varint(out, message->size);
    mrd__buf_add(out, message->data, message->size);
    mrd__buf_reset(message);
}

/* ---- Packets ---- */

static void put_track(mrd__buf *out, uint64_t uuid, uint64_t parent, const char *name)
{
    mrd__buf track = {0};
    mrd__buf packet = {0};
    put_uint(&track, TRACK_UUID, uuid);
    put_uint(&track, TRACK_PARENT_UUID, parent);
    put_text(&track, TRACK_NAME, name);
    put_message(&packet, PACKET_TRACK_DESCRIPTOR, &track);
    put_message(out, TRACE_PACKET, &packet);
}

static void put_thread(mrd__buf *out, uint64_t uuid, uint64_t pid, uint64_t tid, const char *name)
{
    mrd__buf thread = {0};
    mrd__buf track = {0};
    mrd__buf packet = {0};
    put_uint(&thread, THREAD_PID, pid);
    put_uint(&thread, THREAD_TID, tid);
    put_text(&thread, THREAD_NAME, name);
    put_uint(&track, TRACK_UUID, uuid);
    put_message(&track, TRACK_THREAD, &thread);
    put_message(&packet, PACKET_TRACK_DESCRIPTOR, &track);
    put_message(out, TRACE_PACKET, &packet);
}

/* An event packet of sequence 1; event is cleared. */
static void put_event(mrd__buf *out, uint64_t ts, mrd__buf *event)
{
    mrd__buf packet = {0};
    put_uint(&packet, PACKET_TIMESTAMP, ts);
    put_uint(&packet, PACKET_SEQUENCE_ID, 1);
    put_message(&packet, PACKET_TRACK_EVENT, event);
    put_message(out, TRACE_PACKET, &packet);
}

static void put_simple(mrd__buf *out, uint64_t ts, uint64_t type, uint64_t uuid, const char *name)
{
    mrd__buf event = {0};
    put_uint(&event, EVENT_TYPE, type);
    put_uint(&event, EVENT_TRACK_UUID, uuid);
    if (name != NULL) put_text(&event, EVENT_NAME, name);
    put_event(out, ts, &event);
}

/* ---- Samples ---- */

static void make_slices(mrd__buf *out)
{
    put_thread(out, 1, 5, 6, "worker");
    put_track(out, 2, 1, "below");
    put_track(out, 3, 2, "further below");
    put_simple(out, 100, TYPE_BEGIN, 1, "outer");
    put_simple(out, 110, TYPE_BEGIN, 2, "child");
    put_simple(out, 120, TYPE_INSTANT, 3, "mark");
    put_simple(out, 130, TYPE_END, 2, NULL);
    put_simple(out, 140, TYPE_END, 1, NULL);
}

/* Tracks without facts: above one that has some, and one on its own. */
static void make_headings(mrd__buf *out)
{
    put_track(out, 1, 0, "top");
    put_track(out, 2, 1, "middle");
    put_track(out, 3, 2, "leaf");
    put_track(out, 4, 2, "bare");
    put_simple(out, 100, TYPE_BEGIN, 3, "work");
    put_simple(out, 110, TYPE_END, 3, NULL);
}

static void put_annotation(mrd__buf *event, const char *name, mrd__buf *value)
{
    mrd__buf annotation = {0};
    put_text(&annotation, ANNOTATION_NAME, name);
    mrd__buf_add(&annotation, value->data, value->size);
    mrd__buf_reset(value);
    put_message(event, EVENT_ANNOTATIONS, &annotation);
}

static void make_args(mrd__buf *out)
{
    mrd__buf event = {0};
    mrd__buf value = {0};
    mrd__buf inner = {0};
    put_uint(&event, EVENT_TYPE, TYPE_INSTANT);
    put_uint(&event, EVENT_TRACK_UUID, 1);
    put_text(&event, EVENT_NAME, "args");
    put_uint(&value, ANNOTATION_INT, (uint64_t)-7);
    put_annotation(&event, "int", &value);
    put_uint(&value, ANNOTATION_BOOL, 1);
    put_annotation(&event, "bool", &value);
    put_fixed(&value, ANNOTATION_DOUBLE, 0x3ff8000000000000u);
    put_annotation(&event, "double", &value);
    put_uint(&value, ANNOTATION_POINTER, 0xbeef);
    put_annotation(&event, "pointer", &value);
    put_text(&value, ANNOTATION_JSON, "{\"a\": [1, 2]}");
    put_annotation(&event, "json", &value);
    put_text(&value, ANNOTATION_JSON, "{no json");
    put_annotation(&event, "text", &value);
    put_text(&inner, ANNOTATION_NAME, "k");
    put_text(&inner, ANNOTATION_STRING, "v\n");
    put_message(&value, ANNOTATION_DICT, &inner);
    put_annotation(&event, "dict", &value);
    put_uint(&inner, ANNOTATION_UINT, 1);
    put_message(&value, ANNOTATION_ARRAY, &inner);
    put_uint(&inner, ANNOTATION_UINT, 2);
    put_message(&value, ANNOTATION_ARRAY, &inner);
    put_annotation(&event, "array", &value);
    put_event(out, 10, &event);
}

static void put_switch(mrd__buf *bundle, uint64_t ts, uint64_t prev, uint64_t state, uint64_t next,
                       const char *comm)
{
    mrd__buf switched = {0};
    mrd__buf event = {0};
    put_uint(&switched, SWITCH_PREV_PID, prev);
    put_uint(&switched, SWITCH_PREV_STATE, state);
    put_text(&switched, SWITCH_NEXT_COMM, comm);
    put_uint(&switched, SWITCH_NEXT_PID, next);
    put_uint(&switched, SWITCH_NEXT_PRIO, 120);
    put_uint(&event, FTRACE_TIMESTAMP, ts);
    put_message(&event, FTRACE_SWITCH, &switched);
    put_message(bundle, BUNDLE_EVENT, &event);
}

static void make_sched(mrd__buf *out)
{
    mrd__buf bundle = {0};
    mrd__buf packet = {0};
    mrd__buf event = {0};
    mrd__buf waking = {0};
    put_uint(&bundle, BUNDLE_CPU, 0);
    put_switch(&bundle, 100, 0, 0, 7, "a");
    put_switch(&bundle, 150, 7, 1, 0, "swapper/0");
    put_switch(&bundle, 220, 0, 0, 7, "a");
    put_switch(&bundle, 250, 7, 0, 0, "swapper/0");
    put_text(&waking, WAKING_COMM, "a");
    put_uint(&waking, WAKING_PID, 7);
    put_uint(&event, FTRACE_TIMESTAMP, 200);
    put_message(&event, FTRACE_WAKING, &waking);
    put_message(&bundle, BUNDLE_EVENT, &event);
    put_message(&packet, PACKET_FTRACE_EVENTS, &bundle);
    put_message(out, TRACE_PACKET, &packet);
}

static void put_packed(mrd__buf *out, uint32_t number, const uint64_t *values, size_t count)
{
    mrd__buf packed = {0};
    for (size_t i = 0; i < count; i++)
        put_varint(&packed, values[i]);
    put_message(out, number, &packed);
}

/* The same as make_sched in columns. */
static void make_compact(mrd__buf *out)
{
    mrd__buf compact = {0};
    mrd__buf bundle = {0};
    mrd__buf packet = {0};
    put_text(&compact, COMPACT_TABLE, "a");
    put_text(&compact, COMPACT_TABLE, "swapper/0");
    put_packed(&compact, COMPACT_SWITCH_TIME, (uint64_t[]){100, 50, 70, 30}, 4);
    put_packed(&compact, COMPACT_SWITCH_STATE, (uint64_t[]){0, 1, 0, 0}, 4);
    put_packed(&compact, COMPACT_SWITCH_PID, (uint64_t[]){7, 0, 7, 0}, 4);
    put_packed(&compact, COMPACT_SWITCH_PRIO, (uint64_t[]){120, 120, 120, 120}, 4);
    put_packed(&compact, COMPACT_SWITCH_COMM, (uint64_t[]){0, 1, 0, 1}, 4);
    put_packed(&compact, COMPACT_WAKING_TIME, (uint64_t[]){200}, 1);
    put_packed(&compact, COMPACT_WAKING_PID, (uint64_t[]){7}, 1);
    put_packed(&compact, COMPACT_WAKING_COMM, (uint64_t[]){0}, 1);
    put_uint(&bundle, BUNDLE_CPU, 0);
    put_message(&bundle, BUNDLE_COMPACT, &compact);
    put_message(&packet, PACKET_FTRACE_EVENTS, &bundle);
    put_message(out, TRACE_PACKET, &packet);
}

static void put_legacy(mrd__buf *out, uint64_t ts, char phase, uint64_t id, const char *name)
{
    mrd__buf legacy = {0};
    mrd__buf event = {0};
    put_uint(&legacy, LEGACY_PHASE, (uint64_t)phase);
    if (phase == 'X') put_uint(&legacy, LEGACY_DURATION_US, 3);
    if (id != 0) put_uint(&legacy, LEGACY_UNSCOPED_ID, id);
    put_uint(&legacy, LEGACY_PID, 5);
    put_uint(&legacy, LEGACY_TID, 6);
    put_text(&event, EVENT_NAME, name);
    put_text(&event, EVENT_CATEGORIES, "cat");
    put_message(&event, EVENT_LEGACY, &legacy);
    put_event(out, ts, &event);
}

static void make_legacy(mrd__buf *out)
{
    put_thread(out, 1, 5, 6, "worker");
    mrd__buf thread = {0};
    mrd__buf packet = {0};
    put_uint(&thread, THREAD_PID, 5);
    put_uint(&thread, THREAD_TID, 6);
    put_uint(&packet, PACKET_SEQUENCE_ID, 1);
    put_message(&packet, PACKET_THREAD_DESCRIPTOR, &thread);
    put_message(out, TRACE_PACKET, &packet);
    put_legacy(out, 1000, 'X', 0, "complete");
    put_legacy(out, 1000, 'b', 9, "async");
    put_legacy(out, 9000, 'e', 9, "async");
    put_legacy(out, 2000, 's', 4, "flow");
    put_legacy(out, 2000, 'N', 4, "object");
    put_legacy(out, 2000, 'b', 0, "without id");
}

/* ---- Typed fields ---- */

static void put_field(mrd__buf *out, uint32_t at, const char *name, uint64_t number, uint64_t kind,
                      bool repeated, const char *type)
{
    mrd__buf field = {0};
    put_text(&field, DESCRIPTOR_NAME, name);
    put_uint(&field, FIELD_NUMBER, number);
    put_uint(&field, FIELD_LABEL, repeated ? 3 : 1);
    put_uint(&field, FIELD_TYPE, kind);
    if (type != NULL) put_text(&field, FIELD_TYPE_NAME, type);
    if (at == MESSAGE_EXTENSION) put_text(&field, FIELD_EXTENDEE, ".perfetto.protos.TrackEvent");
    put_message(out, at, &field);
}

/* message Wheel { repeated int32 spokes = 1; Kind kind = 2; DebugAnnotation extra = 3; enum Kind }
 * message Car { extend TrackEvent { Wheel wheel = 1200; } } */
static void put_extension(mrd__buf *out)
{
    mrd__buf value = {0};
    mrd__buf kind = {0};
    mrd__buf wheel = {0};
    mrd__buf car = {0};
    mrd__buf file = {0};
    mrd__buf set = {0};
    mrd__buf extension = {0};
    mrd__buf packet = {0};
    put_text(&value, DESCRIPTOR_NAME, "ROUND");
    put_uint(&value, VALUE_NUMBER, 4);
    put_text(&kind, DESCRIPTOR_NAME, "Kind");
    put_message(&kind, ENUM_VALUE, &value);
    put_text(&wheel, DESCRIPTOR_NAME, "Wheel");
    put_field(&wheel, MESSAGE_FIELD, "spokes", 1, MRD__PF_INT32, true, NULL);
    put_field(&wheel, MESSAGE_FIELD, "kind", 2, MRD__PF_ENUM, false, ".cars.Wheel.Kind");
    put_field(&wheel, MESSAGE_FIELD, "extra", 3, MRD__PF_MESSAGE, true,
              ".perfetto.protos.DebugAnnotation");
    put_field(&wheel, MESSAGE_FIELD, "inner", 4, MRD__PF_MESSAGE, false, ".cars.Wheel");
    put_field(&wheel, MESSAGE_FIELD, "size", 5, MRD__PF_DOUBLE, false, NULL);
    put_message(&wheel, MESSAGE_ENUM, &kind);
    put_text(&car, DESCRIPTOR_NAME, "Car");
    put_field(&car, MESSAGE_EXTENSION, "wheel", 1200, MRD__PF_MESSAGE, false, ".cars.Wheel");
    put_text(&file, FILE_PACKAGE, "cars");
    put_message(&file, FILE_MESSAGE, &wheel);
    put_message(&file, FILE_MESSAGE, &car);
    put_message(&set, SET_FILE, &file);
    put_message(&extension, EXTENSION_SET, &set);
    put_message(&packet, PACKET_EXTENSION_DESCRIPTOR, &extension);
    put_message(out, TRACE_PACKET, &packet);
}

/* The descriptor stands behind the event; field 1201 is described nowhere. */
static void make_typed(mrd__buf *out)
{
    mrd__buf event = {0};
    mrd__buf wheel = {0};
    mrd__buf inner = {0};
    mrd__buf extra = {0};
    put_uint(&event, EVENT_TYPE, TYPE_INSTANT);
    put_uint(&event, EVENT_TRACK_UUID, 1);
    put_text(&event, EVENT_NAME, "typed");
    put_uint(&wheel, 1, 7);
    put_uint(&wheel, 2, 4);
    put_uint(&wheel, 1, (uint64_t)-1);
    put_text(&wheel, 1, "\x05\x06");
    put_text(&extra, ANNOTATION_NAME, "note");
    put_uint(&extra, ANNOTATION_UINT, 9);
    put_message(&wheel, 3, &extra);
    put_uint(&inner, 2, 5);
    put_fixed(&inner, 5, 0x3ff8000000000000u);
    put_uint(&inner, 2, 6);
    put_message(&wheel, 4, &inner);
    put_message(&event, 1200, &wheel);
    put_uint(&event, 1201, 1);
    put_text(&wheel, 1, "svc");
    put_message(&event, 26, &wheel);
    put_text(&extra, ANNOTATION_NAME, "value");
    put_text(&extra, ANNOTATION_TYPE, "cars.Wheel");
    put_text(&extra, ANNOTATION_PROTO_VALUE, "\x10\x04");
    put_message(&event, EVENT_ANNOTATIONS, &extra);
    put_text(&extra, ANNOTATION_NAME, "other");
    put_text(&extra, ANNOTATION_TYPE, "cars.Boat");
    put_text(&extra, ANNOTATION_PROTO_VALUE, "\x10\x04");
    put_message(&event, EVENT_ANNOTATIONS, &extra);
    put_event(out, 10, &event);
    put_extension(out);
}

/* An event of sequence 1, `delta` after the last packet on its incremental clock 64. */
static void put_step(mrd__buf *out, uint64_t delta, const char *name)
{
    mrd__buf event = {0};
    mrd__buf packet = {0};
    put_uint(&event, EVENT_TYPE, TYPE_INSTANT);
    put_uint(&event, EVENT_TRACK_UUID, 1);
    put_text(&event, EVENT_NAME, name);
    put_uint(&packet, PACKET_TIMESTAMP, delta);
    put_uint(&packet, PACKET_CLOCK_ID, 64);
    put_uint(&packet, PACKET_SEQUENCE_ID, 1);
    put_message(&packet, PACKET_TRACK_EVENT, &event);
    put_message(out, TRACE_PACKET, &packet);
}

/* A descriptor between two events carries a part of the time between them. */
static void make_steps(mrd__buf *out)
{
    mrd__buf clock = {0};
    mrd__buf snapshot = {0};
    mrd__buf packet = {0};
    mrd__buf track = {0};
    put_uint(&clock, CLOCK_ID, 6);
    put_uint(&clock, CLOCK_TIMESTAMP, 1000);
    put_message(&snapshot, SNAPSHOT_CLOCKS, &clock);
    put_uint(&clock, CLOCK_ID, 64);
    put_uint(&clock, CLOCK_TIMESTAMP, 1000);
    put_uint(&clock, CLOCK_INCREMENTAL, 1);
    put_message(&snapshot, SNAPSHOT_CLOCKS, &clock);
    put_uint(&packet, PACKET_SEQUENCE_ID, 1);
    put_message(&packet, PACKET_CLOCK_SNAPSHOT, &snapshot);
    put_message(out, TRACE_PACKET, &packet);
    put_step(out, 10, "steps");
    put_uint(&track, TRACK_UUID, 2);
    put_uint(&packet, PACKET_TIMESTAMP, 30);
    put_uint(&packet, PACKET_CLOCK_ID, 64);
    put_uint(&packet, PACKET_SEQUENCE_ID, 1);
    put_message(&packet, PACKET_TRACK_DESCRIPTOR, &track);
    put_message(out, TRACE_PACKET, &packet);
    put_step(out, 2, "second");
}

const sample samples[] = {
    {"slices", make_slices},   {"args", make_args},         {"sched", make_sched},
    {"compact", make_compact}, {"legacy", make_legacy},     {"typed", make_typed},
    {"steps", make_steps},     {"headings", make_headings}, {NULL, NULL},
};
