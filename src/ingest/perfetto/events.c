/* Track events: slices, instants, counters, flows; and what Chrome's older events were. */
#include "ingest/perfetto/state.h"

#include <inttypes.h>

#define US 1000 /* ns */

typedef struct legacy {
    bool present, has_bind, has_local, has_global, has_unscoped, enclosing, has_pid, has_tid;
    char phase;
    int64_t duration_us, pid, tid;
    uint64_t local, global, unscoped, bind, direction, scope;
    mrd__str id_scope;
} legacy;

typedef struct event {
    uint64_t type, uuid;
    bool has_arrows, has_uuid, has_value, has_double, has_delta, has_absolute, has_thread_time;
    bool has_instructions, thread_time_is_delta, instructions_is_delta;
    uint32_t name, category;
    int64_t delta_us, absolute_us, thread_time, instructions, value;
    double number;
    uint64_t source_iid;
    mrd__str source;
    uint64_t flows[MRD__PF_MAX_LIST], lasts[MRD__PF_MAX_LIST];
    uint64_t values[MRD__PF_MAX_LIST], uuids[MRD__PF_MAX_LIST];
    uint64_t doubles[MRD__PF_MAX_LIST], double_uuids[MRD__PF_MAX_LIST];
    size_t flow_count, last_count, value_count, uuid_count, double_count, double_uuid_count;
    legacy old;
} event;

/* ---- Reading ---- */

static void add_number(mrd__pf *pf, uint64_t *list, size_t *count, uint64_t value)
{
    if (*count == MRD__PF_MAX_LIST) {
        mrd__pf_loss(pf, MRD__LOSS_EVENT_TOO_LARGE, "too many values in one event");
        return;
    }
    list[(*count)++] = value;
}

/* A repeated number, alone or packed. */
static void add_numbers(mrd__pf *pf, uint64_t *list, size_t *count, const mrd__pb_field *f,
                        bool fixed)
{
    if ((f->key & 7) != 2) {
        add_number(pf, list, count, f->value);
        return;
    }
    mrd__pb packed = mrd__pb_of(f->bytes);
    if (!fixed) {
        for (uint64_t value; mrd__pb_varint(&packed, &value);)
            add_number(pf, list, count, value);
        return;
    }
    for (; packed.end - packed.at >= 8; packed.at += 8) {
        uint64_t value = 0;
        for (unsigned i = 0; i < 8; i++)
            value |= (uint64_t)packed.at[i] << 8 * i;
        add_number(pf, list, count, value);
    }
}

static legacy read_legacy(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str message, event *e)
{
    legacy old = {.present = true};
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        switch (f.key) {
        case PB_VARINT(LEGACY_NAME_IID):
            e->name = mrd__pf_interned(pf, sequence, MRD__PF_EVENT_NAME, f.value);
            break;
        case PB_VARINT(LEGACY_PHASE):
            old.phase = f.value > 0x20 && f.value < 0x7f ? (char)f.value : '?';
            break;
        case PB_VARINT(LEGACY_DURATION_US):
            old.duration_us = mrd__pb_int(f.value);
            break;
        case PB_VARINT(LEGACY_UNSCOPED_ID):
            old.has_unscoped = true;
            old.unscoped = f.value;
            break;
        case PB_VARINT(LEGACY_LOCAL_ID):
            old.has_local = true;
            old.local = f.value;
            break;
        case PB_VARINT(LEGACY_GLOBAL_ID):
            old.has_global = true;
            old.global = f.value;
            break;
        case PB_BYTES(LEGACY_ID_SCOPE):
            old.id_scope = f.bytes;
            break;
        case PB_VARINT(LEGACY_BIND_ID):
            old.has_bind = true;
            old.bind = f.value;
            break;
        case PB_VARINT(LEGACY_BIND_ENCLOSING):
            old.enclosing = f.value != 0;
            break;
        case PB_VARINT(LEGACY_FLOW_DIRECTION):
            old.direction = f.value;
            break;
        case PB_VARINT(LEGACY_SCOPE):
            old.scope = f.value;
            break;
        case PB_VARINT(LEGACY_PID):
            old.has_pid = true;
            old.pid = (int32_t)f.value;
            break;
        case PB_VARINT(LEGACY_TID):
            old.has_tid = true;
            old.tid = (int32_t)f.value;
            break;
        default:
            break;
        }
    }
    return old;
}

/* Several categories are one text, as in JSON: joined by commas. */
static void add_category(mrd__pf *pf, event *e, uint32_t category)
{
    if (e->category == 0) {
        e->category = category;
        return;
    }
    mrd__buf joined = {0};
    mrd__buf_str(&joined, mrd__shard_text(pf->shard, e->category));
    mrd__buf_char(&joined, ',');
    mrd__buf_str(&joined, mrd__shard_text(pf->shard, category));
    e->category = mrd__pf_string(pf, (mrd__str){joined.data, joined.size});
    mrd__buf_reset(&joined);
}

static void read_lists(mrd__pf *pf, event *e, const mrd__pb_field *f)
{
    switch (f->key >> 3) {
    case EVENT_FLOW_IDS:
    case EVENT_FLOW_IDS_OLD:
        add_numbers(pf, e->flows, &e->flow_count, f, f->key >> 3 == EVENT_FLOW_IDS);
        break;
    case EVENT_LAST_FLOW_IDS:
    case EVENT_LAST_FLOW_IDS_OLD:
        add_numbers(pf, e->lasts, &e->last_count, f, f->key >> 3 == EVENT_LAST_FLOW_IDS);
        break;
    case EVENT_EXTRA_VALUES:
        add_numbers(pf, e->values, &e->value_count, f, false);
        break;
    case EVENT_EXTRA_UUIDS:
        add_numbers(pf, e->uuids, &e->uuid_count, f, false);
        break;
    case EVENT_EXTRA_DOUBLE_VALUES:
        add_numbers(pf, e->doubles, &e->double_count, f, true);
        break;
    case EVENT_EXTRA_DOUBLE_UUIDS:
        add_numbers(pf, e->double_uuids, &e->double_uuid_count, f, false);
        break;
    default:
        break;
    }
}

static void read_times(event *e, const mrd__pb_field *f)
{
    int64_t value = mrd__pb_int(f->value);
    switch (f->key) {
    case PB_VARINT(EVENT_TIMESTAMP_DELTA_US):
        e->has_delta = true;
        e->delta_us = value;
        break;
    case PB_VARINT(EVENT_TIMESTAMP_ABSOLUTE_US):
        e->has_absolute = true;
        e->absolute_us = value;
        break;
    case PB_VARINT(EVENT_THREAD_TIME_DELTA_US):
    case PB_VARINT(EVENT_THREAD_TIME_ABSOLUTE_US):
        e->has_thread_time = true;
        e->thread_time_is_delta = f->key == PB_VARINT(EVENT_THREAD_TIME_DELTA_US);
        e->thread_time = value;
        break;
    case PB_VARINT(EVENT_INSTRUCTIONS_DELTA):
    case PB_VARINT(EVENT_INSTRUCTIONS_ABSOLUTE):
        e->has_instructions = true;
        e->instructions_is_delta = f->key == PB_VARINT(EVENT_INSTRUCTIONS_DELTA);
        e->instructions = value;
        break;
    default:
        break;
    }
}

static void read_field(mrd__pf *pf, mrd__pf_sequence *sequence, event *e, const mrd__pb_field *f)
{
    switch (f->key) {
    case PB_VARINT(EVENT_TYPE):
        e->type = f->value;
        break;
    case PB_VARINT(EVENT_TRACK_UUID):
        e->has_uuid = true;
        e->uuid = f->value;
        break;
    case PB_VARINT(EVENT_NAME_IID):
        e->name = mrd__pf_interned(pf, sequence, MRD__PF_EVENT_NAME, f->value);
        break;
    case PB_BYTES(EVENT_NAME):
        e->name = mrd__pf_string(pf, f->bytes);
        break;
    case PB_VARINT(EVENT_CATEGORY_IIDS):
        add_category(pf, e, mrd__pf_interned(pf, sequence, MRD__PF_CATEGORY, f->value));
        break;
    case PB_BYTES(EVENT_CATEGORY_IIDS): {
        mrd__pb packed = mrd__pb_of(f->bytes);
        for (uint64_t iid; mrd__pb_varint(&packed, &iid);)
            add_category(pf, e, mrd__pf_interned(pf, sequence, MRD__PF_CATEGORY, iid));
        break;
    }
    case PB_BYTES(EVENT_CATEGORIES):
        add_category(pf, e, mrd__pf_string(pf, f->bytes));
        break;
    case PB_BYTES(EVENT_LEGACY):
        e->old = read_legacy(pf, sequence, f->bytes, e);
        break;
    case PB_VARINT(EVENT_COUNTER_VALUE):
        e->has_value = true;
        e->value = mrd__pb_int(f->value);
        break;
    case PB_FIXED64(EVENT_DOUBLE_VALUE):
        e->has_double = true;
        e->number = mrd__pb_double(f->value);
        break;
    case PB_BYTES(EVENT_SOURCE):
        e->source = f->bytes;
        break;
    case PB_VARINT(EVENT_SOURCE_IID):
        e->source_iid = f->value;
        break;
    case PB_BYTES(EVENT_ARROW):
        e->has_arrows = true;
        break;
    default:
        read_times(e, f);
        read_lists(pf, e, f);
        break;
    }
}

/* ---- Args ---- */

static void add_source(mrd__pf *pf, uint32_t file, uint32_t function, uint64_t line)
{
    mrd__pf_comma(pf);
    mrd__buf_text(&pf->json, "\"source\":{");
    mrd__pf_source(pf, file, function, line);
    mrd__buf_char(&pf->json, '}');
}

static void add_source_of(mrd__pf *pf, mrd__pf_sequence *sequence, const event *e)
{
    if (e->source_iid != 0) {
        uint32_t index = mrd__pf_map_find(&sequence->interned, MRD__PF_SOURCE, 0, e->source_iid);
        if (index == 0) {
            mrd__pf_loss(pf, MRD__LOSS_UNKNOWN_INTERNED, "source location");
            return;
        }
        const uint64_t *own = &sequence->sources.data[3 * ((size_t)index - 1)];
        add_source(pf, (uint32_t)own[0], (uint32_t)own[1], own[2]);
        return;
    }
    uint32_t file = 0;
    uint32_t function = 0;
    uint64_t line = 0;
    mrd__pb at = mrd__pb_of(e->source);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_BYTES(SOURCE_FILE)) file = mrd__pf_string(pf, f.bytes);
        if (f.key == PB_BYTES(SOURCE_FUNCTION)) function = mrd__pf_string(pf, f.bytes);
        if (f.key == PB_VARINT(SOURCE_LINE)) line = f.value;
    }
    if (e->source.size > 0) add_source(pf, file, function, line);
}

/* Offset + 1 of the event's args, 0 without. */
static uint64_t args_of(mrd__pf *pf, mrd__pf_sequence *sequence, const event *e, mrd__str message)
{
    mrd__buf_clear(&pf->json);
    mrd__buf_char(&pf->json, '{');
    mrd__pb at = mrd__pb_of(message);
    bool typed = false;
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_BYTES(EVENT_ANNOTATIONS)) mrd__pf_annotation(pf, sequence, f.bytes, 1);
        if (mrd__pf_is_typed(f.key >> 3)) typed = true;
    }
    if (typed) mrd__pf_typed(pf, sequence, message);
    add_source_of(pf, sequence, e);
    if (pf->json.size == 1) return 0;
    if (pf->json.size > MRD__PF_MAX_TEXT) {
        mrd__pf_loss(pf, MRD__LOSS_EVENT_TOO_LARGE, "args");
        return 0;
    }
    mrd__buf_char(&pf->json, '}');
    return mrd__shard_own_args(pf->shard, pf->json.data, pf->json.size);
}

/* ---- Sides: ids and flows ---- */

static uint32_t number_text(mrd__pf *pf, uint64_t value)
{
    mrd__buf_clear(&pf->text);
    mrd__buf_uint(&pf->text, value);
    return mrd__shard_string(pf->shard, pf->text.data, pf->text.size, (uint64_t)pf->offset);
}

static bool has_id(const legacy *old)
{
    return old->has_local || old->has_global || old->has_unscoped;
}

/* The side record of one end of an arrow; next where it is none. */
static uint32_t arrow_side(mrd__pf *pf, mrd__str message, uint32_t next)
{
    mrd__flow_half half = {0};
    uint64_t pair = 0;
    bool ends = false;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_VARINT(ARROW_PAIR)) pair = f.value;
        if (f.key == PB_VARINT(ARROW_ENDS)) ends = f.value != 0;
        if (f.key == PB_VARINT(ARROW_DELTA))
            half.delta_ns = mrd__pb_int(f.value >> 1 ^ (0 - (f.value & 1)));
        if (f.key == PB_BYTES(ARROW_ID)) half.id = mrd__pf_string(pf, f.bytes);
        if (f.key == PB_BYTES(ARROW_NAME)) half.name = mrd__pf_string(pf, f.bytes);
        if (f.key == PB_BYTES(ARROW_CATEGORY)) half.category = mrd__pf_string(pf, f.bytes);
    }
    if (at.bad || pair == 0 || pair > UINT32_MAX) {
        mrd__pf_loss(pf, MRD__LOSS_BAD_PACKET, "end of an arrow");
        return next;
    }
    half.pair = (uint32_t)pair;
    return mrd__shard_side(
        pf->shard, (mrd__side){.bind_id = mrd__shard_half(pf->shard, half),
                               .flags = MRD__FLOW_HALF | (ends ? MRD__FLOW_IN : MRD__FLOW_OUT),
                               .next = next});
}

/* Arrows told whole stand for the event's flow ids. */
static uint32_t arrow_sides(mrd__pf *pf, mrd__str message)
{
    uint32_t side = 0;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);)
        if (f.key == PB_BYTES(EVENT_ARROW)) side = arrow_side(pf, f.bytes, side);
    return side;
}

/* The side record of an event: its id, its old binding, and one more for each flow. */
static uint32_t side_of(mrd__pf *pf, const event *e, mrd__str message)
{
    if (e->has_arrows) return arrow_sides(pf, message);
    uint32_t side = 0;
    for (size_t i = e->last_count; i-- > 0;)
        side = mrd__shard_side(pf->shard, (mrd__side){.bind_id = number_text(pf, e->lasts[i]),
                                                      .flags = MRD__FLOW_CHAIN | MRD__FLOW_LAST,
                                                      .next = side});
    for (size_t i = e->flow_count; i-- > 0;)
        side = mrd__shard_side(pf->shard, (mrd__side){.bind_id = number_text(pf, e->flows[i]),
                                                      .flags = MRD__FLOW_CHAIN,
                                                      .next = side});
    const legacy *old = &e->old;
    if (!has_id(old) && !old->has_bind) return side;
    mrd__side first = {.next = side};
    if (has_id(old)) {
        first.id = number_text(pf, old->has_local    ? old->local
                                   : old->has_global ? old->global
                                                     : old->unscoped);
        first.flags = old->has_local ? MRD__ID_LOCAL : MRD__ID_GLOBAL;
        first.scope = mrd__pf_string(pf, old->id_scope);
    }
    if (old->has_bind) {
        first.bind_id = number_text(pf, old->bind);
        if ((old->direction & 1) != 0) first.flags |= MRD__FLOW_IN;
        if ((old->direction & 2) != 0) first.flags |= MRD__FLOW_OUT;
    }
    return mrd__shard_side(pf->shard, first);
}

/* ---- Counters ---- */

static void push_sample(mrd__pf *pf, uint32_t local, int64_t ts, double value)
{
    mrd__shard_count(pf->shard, 'C');
    mrd__pf_push(pf, MRD__COUNTER, local, ts)->value = value;
}

static void sample(mrd__pf *pf, mrd__pf_sequence *sequence, uint64_t uuid, int64_t ts,
                   const int64_t *whole, double number)
{
    mrd__pf_track *track = mrd__pf_track_of(pf, uuid);
    if (!track->counter) {
        mrd__pf_loss(pf, MRD__LOSS_COUNTER_TRACK, NULL);
        return;
    }
    double value = number * (double)track->multiplier;
    if (whole != NULL) {
        int64_t sum = *whole;
        if (track->incremental) {
            if (track->state != sequence->state) track->latest = 0;
            track->state = sequence->state;
            sum = (int64_t)((uint64_t)track->latest + (uint64_t)sum);
            track->latest = sum;
        }
        int64_t product;
        value = __builtin_mul_overflow(sum, track->multiplier, &product)
                    ? (double)sum * (double)track->multiplier
                    : (double)product;
    }
    push_sample(pf, mrd__pf_track_local(pf, uuid), ts, value);
}

static void extra_samples(mrd__pf *pf, mrd__pf_sequence *sequence, const event *e, int64_t ts)
{
    const uint64_t *uuids = e->uuid_count > 0 ? e->uuids : sequence->counter_uuids.data;
    size_t count = e->uuid_count > 0 ? e->uuid_count : sequence->counter_uuids.count;
    for (size_t i = 0; i < e->value_count; i++) {
        int64_t value = mrd__pb_int(e->values[i]);
        if (i < count)
            sample(pf, sequence, uuids[i], ts, &value, 0);
        else
            mrd__pf_loss(pf, MRD__LOSS_COUNTER_TRACK, NULL);
    }
    uuids = e->double_uuid_count > 0 ? e->double_uuids : sequence->double_uuids.data;
    count = e->double_uuid_count > 0 ? e->double_uuid_count : sequence->double_uuids.count;
    for (size_t i = 0; i < e->double_count; i++) {
        if (i < count)
            sample(pf, sequence, uuids[i], ts, NULL, mrd__pb_double(e->doubles[i]));
        else
            mrd__pf_loss(pf, MRD__LOSS_COUNTER_TRACK, NULL);
    }
}

/* Thread time and instructions as they stood before counters: samples of the thread. */
static void thread_samples(mrd__pf *pf, mrd__pf_sequence *sequence, const event *e, uint32_t thread,
                           int64_t ts)
{
    if (e->has_thread_time) {
        int64_t time = e->thread_time;
        if (e->thread_time_is_delta)
            time = (int64_t)((uint64_t)sequence->thread_time_us + (uint64_t)time);
        if (e->thread_time_is_delta) sequence->thread_time_us = time;
        uint32_t local = mrd__pf_own_track(pf, thread, 'T', "thread_time", "");
        push_sample(pf, local, ts, (double)time * US);
    }
    if (e->has_instructions) {
        int64_t count = e->instructions;
        if (e->instructions_is_delta)
            count = (int64_t)((uint64_t)sequence->instructions + (uint64_t)count);
        if (e->instructions_is_delta) sequence->instructions = count;
        uint32_t local = mrd__pf_own_track(pf, thread, 'I', "thread_instruction_count", "");
        push_sample(pf, local, ts, (double)count);
    }
}

/* ---- Where an event belongs ---- */

typedef struct target {
    uint32_t local;
    uint32_t thread; /* local of a thread, MRD__NONE when the target is none */
    bool by_uuid;
} target;

static uint32_t thread_at(mrd__pf *pf, mrd__pf_sequence *sequence, int64_t pid, int64_t tid)
{
    uint32_t process = mrd__pf_process(pf, sequence->machine, pid);
    uint32_t thread = mrd__pf_thread(pf, process, tid);
    return pf->threads.data[thread].local;
}

static target target_of(mrd__pf *pf, mrd__pf_sequence *sequence, const event *e)
{
    uint64_t uuid = e->has_uuid ? e->uuid : sequence->has_track ? sequence->track_uuid : 0;
    const legacy *old = &e->old;
    bool given = (e->has_uuid || sequence->has_track) && uuid != 0;
    if (given) {
        uint32_t local = mrd__pf_track_local(pf, uuid);
        bool thread = mrd__pf_track_of(pf, uuid)->thread != MRD__NONE;
        return (target){local, thread ? local : MRD__NONE, true};
    }
    bool overridden = old->present && (old->has_pid || old->has_tid);
    bool by_thread = overridden || !e->has_uuid || (old->present && e->type == 0);
    if (by_thread && (overridden || sequence->has_thread)) {
        int64_t pid = old->has_pid ? old->pid : sequence->pid;
        int64_t tid = old->has_tid ? old->tid : sequence->tid;
        uint32_t local = thread_at(pf, sequence, pid, tid);
        return (target){local, local, false};
    }
    return (target){mrd__pf_track_local(pf, 0), MRD__NONE, true};
}

/* ---- Facts ---- */

typedef struct fact_of_phase {
    mrd__phase phase;
    unsigned flags;
} fact_of_phase;

/* What the old phase letters are; false for those that nothing shows. */
static bool old_phase(const legacy *old, fact_of_phase *out)
{
    static const struct {
        char letter;
        mrd__phase phase;
    } phases[] = {{'B', MRD__BEGIN},
                  {'E', MRD__END},
                  {'X', MRD__COMPLETE},
                  {'i', MRD__INSTANT},
                  {'I', MRD__INSTANT},
                  {'R', MRD__INSTANT},
                  {'b', MRD__ASYNC_BEGIN},
                  {'e', MRD__ASYNC_END},
                  {'n', MRD__ASYNC_INSTANT},
                  {'S', MRD__OLD_ASYNC_START},
                  {'T', MRD__OLD_ASYNC_STEP},
                  {'p', MRD__OLD_ASYNC_STEP},
                  {'F', MRD__OLD_ASYNC_FINISH},
                  {'s', MRD__FLOW_START},
                  {'t', MRD__FLOW_STEP},
                  {'f', MRD__FLOW_END}};
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        if (phases[i].letter != old->phase) continue;
        *out = (fact_of_phase){phases[i].phase, 0};
        if (out->phase >= MRD__FLOW_START && old->enclosing) out->flags = MRD__BIND_ENCLOSING;
        return true;
    }
    return false;
}

/* Phase of an event, its letter counted; false when it makes no slice or instant. */
static bool phase_of(mrd__pf *pf, const event *e, const target *at, fact_of_phase *out)
{
    static const fact_of_phase types[] = {[TYPE_BEGIN] = {MRD__BEGIN, 0},
                                          [TYPE_END] = {MRD__END, 0},
                                          [TYPE_INSTANT] = {MRD__INSTANT, 0}};
    static const char letters[] = {[TYPE_BEGIN] = 'B', [TYPE_END] = 'E', [TYPE_INSTANT] = 'i'};
    if (e->type >= TYPE_BEGIN && e->type <= TYPE_INSTANT) {
        mrd__shard_count(pf->shard, (unsigned char)letters[e->type]);
        *out = types[e->type];
        return true;
    }
    if (e->type == TYPE_COUNTER) return false;
    if (e->type > TYPE_COUNTER) {
        mrd__pf_loss(pf, MRD__LOSS_UNSUPPORTED_PACKET, "track event of a further type");
        return false;
    }
    char letter = e->type == 0 && e->old.present ? e->old.phase : '\0';
    mrd__shard_count(pf->shard, letter != '\0' ? (unsigned char)letter : '?');
    if (letter == '\0' || !old_phase(&e->old, out)) {
        mrd__shard_loss(pf->shard, MRD__LOSS_UNSUPPORTED_PHASE, letter != '\0' ? letter : '?', 1,
                        pf->offset, NULL, 0);
        return false;
    }
    if (out->phase == MRD__INSTANT && !at->by_uuid)
        out->flags = e->old.scope == 1   ? MRD__SCOPE_GLOBAL
                     : e->old.scope == 2 ? MRD__SCOPE_PROCESS
                                         : MRD__SCOPE_THREAD;
    bool async = out->phase >= MRD__ASYNC_BEGIN && out->phase <= MRD__OLD_ASYNC_FINISH;
    bool flow = out->phase >= MRD__FLOW_START && out->phase <= MRD__FLOW_END;
    if ((!async && !flow) || has_id(&e->old)) return true;
    mrd__pf_loss(pf, async ? MRD__LOSS_ASYNC_MISSING_ID : MRD__LOSS_FLOW_MISSING_ID, NULL);
    return false;
}

static void push_event(mrd__pf *pf, mrd__pf_sequence *sequence, const event *e, target at,
                       int64_t ts, mrd__str message)
{
    fact_of_phase what;
    if (!phase_of(pf, e, &at, &what)) return;
    bool old_only = what.phase >= MRD__ASYNC_BEGIN && what.phase <= MRD__FLOW_END;
    if (old_only && at.thread == MRD__NONE) { /* matched by process: they need one */
        if (!sequence->has_thread) {
            mrd__pf_loss(pf, MRD__LOSS_ASYNC_MISSING_ID, "no thread");
            return;
        }
        at.local = thread_at(pf, sequence, sequence->pid, sequence->tid);
    }
    bool flows = e->flow_count + e->last_count > 0;
    int64_t dur = 0;
    if (what.phase == MRD__INSTANT && flows) {
        /* Arrows join slices: an instant with flows is one without length. */
        what = (fact_of_phase){MRD__COMPLETE, 0};
    } else if (what.phase == MRD__COMPLETE &&
               __builtin_mul_overflow(e->old.duration_us, US, &dur)) {
        mrd__pf_loss(pf, MRD__LOSS_TIME_OVERFLOW, NULL);
        return;
    }
    uint32_t side = what.phase == MRD__INSTANT ? 0 : side_of(pf, e, message);
    uint64_t args = args_of(pf, sequence, e, message);
    mrd__fact *fact = mrd__pf_push(pf, what.phase, at.local, ts);
    fact->dur = dur;
    /* An end closes the innermost slice, whatever it is called. */
    bool names = what.phase != MRD__END || e->type == 0;
    fact->name = names ? e->name : 0;
    fact->category = names ? e->category : 0;
    fact->extra = side;
    fact->args = args;
    fact->flags = (what.flags | (args != 0 ? MRD__ARGS_OWNED : 0)) & 0xff;
}

/* A track without a name that is no process's or thread's is called after its first event. */
static void name_track(mrd__pf *pf, const event *e, uint64_t uuid)
{
    mrd__pf_track *track = mrd__pf_track_of(pf, uuid);
    if (track->name != 0 || track->thread != MRD__NONE || track->process != MRD__NONE) return;
    track->name = e->name;
    if (track->local != MRD__NONE) mrd__shard_track_spec(pf->shard, track->local)->name = e->name;
}

static bool event_time(mrd__pf *pf, const mrd__pf_packet *packet, const event *e, int64_t *ts)
{
    if (packet->has_timestamp) {
        *ts = mrd__pf_packet_time(pf, packet);
        return true;
    }
    if (!e->has_delta && !e->has_absolute) {
        mrd__pf_loss(pf, MRD__LOSS_MISSING_TIMESTAMP, NULL);
        return false;
    }
    enum {
        MONOTONIC = 3
    };
    mrd__pf_sequence *sequence = packet->sequence;
    int64_t us = e->absolute_us;
    if (e->has_delta) {
        us = (int64_t)((uint64_t)sequence->reference_us + (uint64_t)e->delta_us);
        sequence->reference_us = us;
    }
    mrd__shard_clock(pf->shard, mrd__pf_clock(packet, MONOTONIC));
    if (!__builtin_mul_overflow(us, US, ts)) return true;
    mrd__pf_loss(pf, MRD__LOSS_TIME_OVERFLOW, NULL);
    return false;
}

void mrd__pf_event(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message)
{
    mrd__pf_sequence *sequence = packet->sequence;
    if (sequence == NULL) {
        mrd__pf_loss(pf, MRD__LOSS_MISSING_SEQUENCE, NULL);
        return;
    }
    event e;
    __builtin_memset(&e, 0, sizeof e);
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);)
        read_field(pf, sequence, &e, &f);
    if (at.bad) {
        mrd__pf_loss(pf, MRD__LOSS_BAD_PACKET, "track event");
        return;
    }
    int64_t ts;
    if (!event_time(pf, packet, &e, &ts)) return;
    uint64_t uuid = e.has_uuid ? e.uuid : sequence->has_track ? sequence->track_uuid : 0;
    if (e.type == TYPE_COUNTER) {
        if (e.has_value || e.has_double)
            sample(pf, sequence, uuid, ts, e.has_value ? &e.value : NULL, e.number);
        else
            mrd__pf_loss(pf, MRD__LOSS_COUNTER_MISSING_ARGS, NULL);
        extra_samples(pf, sequence, &e, ts);
        return;
    }
    if (uuid != 0) name_track(pf, &e, uuid);
    target where = target_of(pf, sequence, &e);
    extra_samples(pf, sequence, &e, ts);
    if (where.thread != MRD__NONE) thread_samples(pf, sequence, &e, where.thread, ts);
    push_event(pf, sequence, &e, where, ts, message);
}
