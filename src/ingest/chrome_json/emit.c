/* From an event's text to facts. Nothing is interpreted here that needs a second event.
 *
 * Decisions:
 * - A slice or instant without a name is "[No name]"; an end keeps 0, which fits any begin, and a
 *   flow's name is part of its key.
 * - A missing tid is the main thread (tid = pid), as every peer has it; an explicit 0 stays 0. A
 *   missing pid is the process without an id.
 * - Numbers in strings are numbers; an integer beyond int64 is kept as text. */
#include "base/assert.h"
#include "ingest/chrome_json/event.h"
#include "ingest/chrome_json/limits.h"

#include <string.h>

#define NS_SHIFT 3                  /* microseconds to nanoseconds */
#define OFFSET_MASK 0xffffffffffffu /* 48 bits: mrd__fact.args */

void mrd__cj_out_reset(mrd__cj_out *out)
{
    mrd__buf_reset(&out->text);
    mrd__buf_reset(&out->args);
}

/* ---- Losses ---- */

static mrd__str whole_text(const mrd__cj_event *event)
{
    return (mrd__str){event->text, event->size};
}

static void lose(mrd__cj_out *out, const mrd__cj_event *event, mrd__loss_id id, char letter)
{
    mrd__shard_loss(out->shard, id, letter, 1, (int64_t)event->offset, event->text, event->size);
}

static void count(mrd__cj_out *out, mrd__loss_id id, uint64_t number, uint64_t offset,
                  mrd__str excerpt)
{
    if (number == 0) return;
    mrd__shard_loss(out->shard, id, 0, number, (int64_t)offset, excerpt.data, excerpt.size);
}

static void count_stats(mrd__cj_out *out, const mrd__json_text_stats *stats, uint64_t nonstandard,
                        uint64_t duplicates, uint64_t offset, mrd__str excerpt)
{
    count(out, MRD__LOSS_NONSTANDARD_NUMBER, nonstandard, offset, excerpt);
    count(out, MRD__LOSS_DUPLICATE_KEY, duplicates, offset, excerpt);
    count(out, MRD__LOSS_RAW_CONTROL_CHARACTER, stats->raw_controls, offset, excerpt);
    count(out, MRD__LOSS_INVALID_UTF8, stats->invalid_utf8, offset, excerpt);
    count(out, MRD__LOSS_LONE_SURROGATE, stats->lone_surrogates, offset, excerpt);
}

void mrd__cj_emit_stats(mrd__cj_out *out, const mrd__cj_walk *walk, uint64_t offset,
                        mrd__str excerpt)
{
    count_stats(out, &walk->stats, walk->nonstandard, walk->duplicates, offset, excerpt);
}

/* ---- Text ---- */

static inline uint64_t position_of(const mrd__cj_event *event, const char *at)
{
    return event->offset + (uint64_t)(at - event->text);
}

static inline uint32_t intern(mrd__cj_out *out, const mrd__cj_event *event,
                              const mrd__cj_value *value)
{
    uint64_t position = position_of(event, value->at);
    if (!value->special) return mrd__shard_string(out->shard, value->at, value->size, position);
    mrd__buf_clear(&out->text);
    mrd__json_decode(&out->text, (mrd__str){value->at, value->size}, NULL);
    return mrd__shard_string(out->shard, out->text.data, out->text.size, position);
}

/* A string field, or a number or bool as it is written; 0 where absent or of another type. */
static inline uint32_t text_of(mrd__cj_out *out, const mrd__cj_event *event, mrd__cj_field field)
{
    if (!mrd__cj_has(event, field)) return 0;
    const mrd__cj_value *value = &event->fields[field];
    bool scalar = value->type == MRD__JSON_STRING || value->type == MRD__JSON_NUMBER ||
                  value->type == MRD__JSON_TRUE || value->type == MRD__JSON_FALSE;
    return scalar ? intern(out, event, value) : 0;
}

static inline uint32_t name_of(mrd__cj_out *out, const mrd__cj_event *event)
{
    uint32_t name = text_of(out, event, MRD__CJ_NAME);
    if (name == 0) name = mrd__shard_string(out->shard, "[No name]", 9, event->offset);
    return name;
}

static bool string_is(const mrd__cj_event *event, mrd__cj_field field, char letter)
{
    const mrd__cj_value *value = &event->fields[field];
    return mrd__cj_has(event, field) && value->type == MRD__JSON_STRING && value->size > 0 &&
           value->at[0] == letter;
}

static bool is_true(const mrd__cj_event *event, mrd__cj_field field)
{
    return mrd__cj_has(event, field) && event->fields[field].type == MRD__JSON_TRUE;
}

unsigned char mrd__cj_letter(const mrd__cj_event *event)
{
    const mrd__cj_value *value = &event->fields[MRD__CJ_PH];
    if (!mrd__cj_has(event, MRD__CJ_PH) || value->type != MRD__JSON_STRING || value->size == 0)
        return 0;
    return (unsigned char)value->at[0];
}

/* ---- Processes and threads ---- */

static mrd__ident ident_of(mrd__cj_out *out, const mrd__cj_event *event, mrd__cj_field field)
{
    mrd__ident ident = {.kind = MRD__IDENT_NONE};
    if (!mrd__cj_has(event, field)) return ident;
    const mrd__cj_value *value = &event->fields[field];
    mrd__str text = {value->at, value->size};
    if (value->type == MRD__JSON_NUMBER && value->scale == 0) {
        ident.kind = MRD__IDENT_NUMBER;
        ident.number = value->number;
    } else if (value->type == MRD__JSON_NUMBER) {
        bool exact = mrd__cj_whole(text, &ident.number) == MRD__CJ_EXACT;
        ident.kind = exact ? MRD__IDENT_NUMBER : MRD__IDENT_TEXT;
    } else if (value->type == MRD__JSON_STRING && value->size > 0) {
        bool exact = mrd__parse_int64(text, &ident.number);
        ident.kind = exact ? MRD__IDENT_NUMBER : MRD__IDENT_TEXT;
    }
    if (ident.kind == MRD__IDENT_TEXT) {
        ident.number = 0;
        ident.text = intern(out, event, value);
    }
    return ident;
}

static inline mrd__cj_thread *cached(mrd__cj_out *out, int64_t pid, int64_t tid)
{
    return &out->threads[mrd__hash_mix((uint64_t)pid, (uint64_t)tid) % MRD__CJ_THREADS];
}

static uint32_t cached_thread(mrd__cj_out *out, mrd__ident pid, mrd__ident tid)
{
    if (pid.kind != MRD__IDENT_NUMBER || tid.kind != MRD__IDENT_NUMBER)
        return mrd__shard_thread(out->shard, pid, tid);
    mrd__cj_thread *entry = cached(out, pid.number, tid.number);
    if (!entry->known || entry->pid != pid.number || entry->tid != tid.number)
        *entry =
            (mrd__cj_thread){pid.number, tid.number, mrd__shard_thread(out->shard, pid, tid), true};
    return entry->thread;
}

/* Is the field a whole number that the walker has handed over? */
static inline bool is_whole(const mrd__cj_event *event, mrd__cj_field field)
{
    const mrd__cj_value *value = &event->fields[field];
    return mrd__cj_has(event, field) && value->type == MRD__JSON_NUMBER && value->scale == 0;
}

static uint32_t thread_of(mrd__cj_out *out, const mrd__cj_event *event)
{
    if (is_whole(event, MRD__CJ_PID) && is_whole(event, MRD__CJ_TID)) {
        int64_t pid = event->fields[MRD__CJ_PID].number, tid = event->fields[MRD__CJ_TID].number;
        const mrd__cj_thread *entry = cached(out, pid, tid);
        if (entry->known && entry->pid == pid && entry->tid == tid) return entry->thread;
    }
    mrd__ident pid = ident_of(out, event, MRD__CJ_PID);
    mrd__ident tid = ident_of(out, event, MRD__CJ_TID);
    if (tid.kind == MRD__IDENT_NONE && pid.kind == MRD__IDENT_NUMBER) tid = pid;
    return cached_thread(out, pid, tid);
}

static uint32_t process_of(mrd__cj_out *out, const mrd__cj_event *event)
{
    mrd__ident pid = ident_of(out, event, MRD__CJ_PID);
    return mrd__shard_thread(out->shard, pid, (mrd__ident){.kind = MRD__IDENT_NONE});
}

/* ---- Times ---- */

static mrd__cj_number time_of(const mrd__cj_event *event, mrd__cj_field field, int64_t *out)
{
    static const int64_t powers[NS_SHIFT + 1] = {1000, 100, 10, 1};
    const mrd__cj_value *value = &event->fields[field];
    if (value->type != MRD__JSON_NUMBER && value->type != MRD__JSON_STRING)
        return MRD__CJ_NOT_A_NUMBER;
    if (value->type == MRD__JSON_NUMBER && value->scale <= NS_SHIFT &&
        !__builtin_mul_overflow(value->number, powers[value->scale], out))
        return MRD__CJ_EXACT;
    return mrd__cj_decimal((mrd__str){value->at, value->size}, NS_SHIFT, out);
}

static inline bool timestamp(mrd__cj_out *out, const mrd__cj_event *event, int64_t *ts)
{
    if (!mrd__cj_has(event, MRD__CJ_TS)) {
        lose(out, event, MRD__LOSS_MISSING_TIMESTAMP, 0);
        return false;
    }
    mrd__cj_number number = time_of(event, MRD__CJ_TS, ts);
    if (number == MRD__CJ_EXACT) return true;
    bool overflow = number == MRD__CJ_OVERFLOW;
    lose(out, event, overflow ? MRD__LOSS_TIME_OVERFLOW : MRD__LOSS_BAD_TIMESTAMP, 0);
    return false;
}

static bool duration(mrd__cj_out *out, const mrd__cj_event *event, int64_t ts, int64_t *dur)
{
    if (!mrd__cj_has(event, MRD__CJ_DUR)) {
        lose(out, event, MRD__LOSS_MISSING_DURATION, 0);
        return false;
    }
    mrd__cj_number number = time_of(event, MRD__CJ_DUR, dur);
    int64_t end;
    if (number == MRD__CJ_NOT_A_NUMBER) {
        lose(out, event, MRD__LOSS_BAD_DURATION, 0);
        return false;
    }
    if (number == MRD__CJ_OVERFLOW || (*dur > 0 && __builtin_add_overflow(ts, *dur, &end))) {
        lose(out, event, MRD__LOSS_TIME_OVERFLOW, 0);
        return false;
    }
    return true;
}

/* ---- Args ---- */

/* Begin to read an object that the walker has found to be one: its first key comes next. */
static void open_object(mrd__json *json, const char *text, size_t size)
{
    mrd__json_init(json, text, size);
    mrd__json_token brace = mrd__json_next(json);
    mrd__assert(brace.type == MRD__JSON_OBJECT);
}

static bool has_key(mrd__str object, const char *key)
{
    mrd__json json;
    mrd__json_token token;
    open_object(&json, object.data, object.size);
    while ((token = mrd__json_next(&json)).type == MRD__JSON_KEY) {
        if (mrd__str_is(token.text, key)) return true;
        if (!mrd__json_skip(&json, mrd__json_next(&json))) return false;
    }
    return false;
}

/* Args with the event's own list of stack frames put in as the key "stack", or args that are no
 * object as the key "args": text of its own. */
static uint64_t composed_args(mrd__cj_out *out, const mrd__cj_value *args,
                              const mrd__cj_value *stack)
{
    mrd__buf *buf = &out->args;
    mrd__buf_clear(buf);
    mrd__buf_char(buf, '{');
    if (args != NULL && args->type == MRD__JSON_OBJECT) {
        mrd__buf_add(buf, args->at + 1, args->size - 2);
    } else if (args != NULL) {
        bool quoted = args->type == MRD__JSON_STRING;
        mrd__buf_text(buf, quoted ? "\"args\":\"" : "\"args\":");
        mrd__buf_add(buf, args->at, args->size);
        if (quoted) mrd__buf_char(buf, '"');
    }
    if (stack != NULL) {
        size_t at = buf->size;
        while (mrd__cj_space(buf->data[at - 1]))
            at--;
        mrd__buf_text(buf, buf->data[at - 1] == '{' && at == 1 ? "\"stack\":" : ",\"stack\":");
        mrd__buf_add(buf, stack->at, stack->size);
    }
    mrd__buf_char(buf, '}');
    return mrd__shard_own_args(out->shard, buf->data, buf->size);
}

/* Fill fact's args. */
static void put_args(mrd__cj_out *out, const mrd__cj_event *event, mrd__fact *fact)
{
    const mrd__cj_value *args = &event->fields[MRD__CJ_ARGS];
    const mrd__cj_value *stack = &event->fields[MRD__CJ_STACK];
    bool with_args = mrd__cj_has(event, MRD__CJ_ARGS) && !event->args_too_deep &&
                     args->type != MRD__JSON_NULL &&
                     (args->size > 2 || args->type != MRD__JSON_OBJECT) &&
                     (args->size > 0 || args->type != MRD__JSON_STRING);
    bool object = with_args && args->type == MRD__JSON_OBJECT;
    bool with_stack = mrd__cj_has(event, MRD__CJ_STACK) && stack->type == MRD__JSON_ARRAY &&
                      !(object && has_key((mrd__str){args->at, args->size}, "stack"));
    if (!with_args && !with_stack) return;
    uint64_t ref;
    bool owned = true;
    if (with_stack || !object) {
        ref = composed_args(out, with_args ? args : NULL, with_stack ? stack : NULL);
    } else if (out->own_args) {
        ref = mrd__shard_own_args(out->shard, args->at, args->size);
    } else {
        ref = position_of(event, args->at) + 1;
        owned = false;
    }
    fact->args = ref & OFFSET_MASK;
    fact->flags =
        (fact->flags & ~(uint64_t)MRD__ARGS_PLACE & 0xff) | (owned ? (uint64_t)MRD__ARGS_OWNED : 0);
}

/* ---- Ids ---- */

/* An id as text: strings as they stand, whole numbers in decimal whatever their spelling. */
static uint32_t id_text(mrd__cj_out *out, const mrd__cj_event *event, const mrd__cj_value *value)
{
    mrd__str text = {value->at, value->size};
    int64_t whole;
    double number;
    if (value->type == MRD__JSON_NUMBER && !mrd__parse_int64(text, &whole) &&
        mrd__parse_double(text, &number) && mrd__cj_whole(text, &whole) == MRD__CJ_EXACT &&
        (double)whole == number) {
        mrd__buf_clear(&out->text);
        mrd__buf_int(&out->text, whole);
        return mrd__shard_string(out->shard, out->text.data, out->text.size,
                                 position_of(event, value->at));
    }
    return intern(out, event, value);
}

static bool is_id(const mrd__cj_value *value)
{
    return value->type == MRD__JSON_STRING || value->type == MRD__JSON_NUMBER;
}

/* id2 is an object with the key local or global. */
static bool id2_of(mrd__cj_out *out, const mrd__cj_event *event, mrd__side *side)
{
    const mrd__cj_value *object = &event->fields[MRD__CJ_ID2];
    if (!mrd__cj_has(event, MRD__CJ_ID2) || object->type != MRD__JSON_OBJECT) return false;
    mrd__json json;
    mrd__json_token token;
    open_object(&json, object->at, object->size);
    bool found = false;
    while ((token = mrd__json_next(&json)).type == MRD__JSON_KEY) {
        bool local = mrd__str_is(token.text, "local");
        bool global = mrd__str_is(token.text, "global");
        token = mrd__json_next(&json);
        bool fits = token.type == MRD__JSON_STRING || token.type == MRD__JSON_NUMBER;
        if ((local || global) && fits) {
            mrd__cj_value value = {.at = token.text.data,
                                   .size = (uint32_t)token.text.size,
                                   .type = (uint8_t)token.type,
                                   .special = true};
            side->id = id_text(out, event, &value);
            side->flags = local ? MRD__ID_LOCAL : MRD__ID_GLOBAL;
            found = true;
        }
        if (!mrd__json_skip(&json, token)) break;
    }
    return found;
}

static bool id_of(mrd__cj_out *out, const mrd__cj_event *event, mrd__side *side)
{
    if (mrd__cj_has(event, MRD__CJ_ID) && is_id(&event->fields[MRD__CJ_ID]))
        side->id = id_text(out, event, &event->fields[MRD__CJ_ID]);
    else if (!id2_of(out, event, side))
        return false;
    side->scope = text_of(out, event, MRD__CJ_SCOPE);
    return true;
}

/* Flow v2: bind_id with flow_in and flow_out. */
static bool bind_of(mrd__cj_out *out, const mrd__cj_event *event, mrd__side *side)
{
    const mrd__cj_value *value = &event->fields[MRD__CJ_BIND_ID];
    if (!mrd__cj_has(event, MRD__CJ_BIND_ID) || !is_id(value)) return false;
    uint32_t flags = (is_true(event, MRD__CJ_FLOW_OUT) ? MRD__FLOW_OUT : 0u) |
                     (is_true(event, MRD__CJ_FLOW_IN) ? MRD__FLOW_IN : 0u);
    if (flags == 0) {
        lose(out, event, MRD__LOSS_FLOW_WITHOUT_DIRECTION, 0);
        return false;
    }
    side->bind_id = id_text(out, event, value);
    side->flags |= flags;
    return true;
}

/* ---- What our own writer says beside the event ---- */

typedef struct own_facts {
    bool thread;     /* the lane is one of the event's thread */
    uint32_t arrows; /* side records of the ends of arrows that lie in the slice; 0 none */
} own_facts;

static void arrow_member(mrd__cj_out *out, const mrd__cj_event *event, mrd__str key,
                         const mrd__json_token *value, mrd__flow_half *half, bool *ends)
{
    mrd__cj_value text = {
        .at = value->text.data, .size = (uint32_t)value->text.size, .special = true};
    int64_t pair;
    if (mrd__str_is(key, "ends")) *ends = value->type == MRD__JSON_TRUE;
    if (value->type == MRD__JSON_NUMBER) {
        if (mrd__str_is(key, "pair") && mrd__parse_int64(value->text, &pair) && pair > 0 &&
            pair < UINT32_MAX)
            half->pair = (uint32_t)pair;
        if (mrd__str_is(key, "delta_ns")) (void)mrd__parse_int64(value->text, &half->delta_ns);
    } else if (value->type == MRD__JSON_STRING) {
        if (mrd__str_is(key, "id")) half->id = intern(out, event, &text);
        if (mrd__str_is(key, "name")) half->name = intern(out, event, &text);
        if (mrd__str_is(key, "cat")) half->category = intern(out, event, &text);
    }
}

/* The end of an arrow whose '{' was read; the side records with it. */
static uint32_t arrow_side(mrd__cj_out *out, const mrd__cj_event *event, mrd__json *json,
                           uint32_t next)
{
    mrd__flow_half half = {0};
    bool ends = false;
    mrd__json_token key;
    while ((key = mrd__json_next(json)).type == MRD__JSON_KEY) {
        mrd__json_token value = mrd__json_next(json);
        arrow_member(out, event, key.text, &value, &half, &ends);
        if (!mrd__json_skip(json, value)) break;
    }
    if (half.pair == 0) {
        lose(out, event, MRD__LOSS_FLOW_MISSING_ID, 0);
        return next;
    }
    return mrd__shard_side(
        out->shard, (mrd__side){.bind_id = mrd__shard_half(out->shard, half),
                                .flags = MRD__FLOW_HALF | (ends ? MRD__FLOW_IN : MRD__FLOW_OUT),
                                .next = next});
}

static own_facts own_of(mrd__cj_out *out, const mrd__cj_event *event)
{
    own_facts own = {0};
    const mrd__cj_value *object = &event->fields[MRD__CJ_MERIDIAN];
    if (!mrd__cj_has(event, MRD__CJ_MERIDIAN) || object->type != MRD__JSON_OBJECT) return own;
    mrd__json json;
    mrd__json_token key;
    open_object(&json, object->at, object->size);
    while ((key = mrd__json_next(&json)).type == MRD__JSON_KEY) {
        mrd__json_token value = mrd__json_next(&json);
        if (mrd__str_is(key.text, "thread")) own.thread = value.type == MRD__JSON_TRUE;
        if (mrd__str_is(key.text, "arrows") && value.type == MRD__JSON_ARRAY) {
            while ((value = mrd__json_next(&json)).type == MRD__JSON_OBJECT)
                own.arrows = arrow_side(out, event, &json, own.arrows);
            if (value.type == MRD__JSON_ARRAY_END) continue;
            while (value.type != MRD__JSON_ARRAY_END) { /* something else than an arrow */
                if (!mrd__json_skip(&json, value)) return own;
                value = mrd__json_next(&json);
            }
            continue;
        }
        if (!mrd__json_skip(&json, value)) break;
    }
    return own;
}

/* ---- Phases ---- */

static inline mrd__fact *push(mrd__cj_out *out, const mrd__cj_event *event, mrd__phase phase,
                              int64_t ts, uint32_t name, uint32_t category, uint32_t thread)
{
    mrd__fact *fact = mrd__shard_push(out->shard);
    fact->args = (event->offset + 1) & OFFSET_MASK;
    fact->flags = MRD__ARGS_PLACE;
    fact->phase = phase;
    fact->ts = ts;
    fact->name = name;
    fact->category = category;
    fact->thread = thread;
    return fact;
}

/* X, B, E. */
static void emit_slice(mrd__cj_out *out, const mrd__cj_event *event, mrd__phase phase)
{
    int64_t ts, dur = 0;
    if (!timestamp(out, event, &ts)) return;
    if (phase == MRD__COMPLETE && !duration(out, event, ts, &dur)) return;
    bool end = phase == MRD__END;
    uint32_t name = end ? text_of(out, event, MRD__CJ_NAME) : name_of(out, event);
    uint32_t category = text_of(out, event, MRD__CJ_CAT);
    uint32_t thread = thread_of(out, event);
    mrd__side side = {0};
    uint32_t extra = 0;
    if (!end) extra = own_of(out, event).arrows;
    if (!end && extra == 0 && bind_of(out, event, &side)) extra = mrd__shard_side(out->shard, side);
    mrd__fact *fact = push(out, event, phase, ts, name, category, thread);
    fact->dur = dur;
    fact->extra = extra;
    put_args(out, event, fact);
}

static void emit_instant(mrd__cj_out *out, const mrd__cj_event *event)
{
    int64_t ts;
    if (!timestamp(out, event, &ts)) return;
    mrd__scope scope = string_is(event, MRD__CJ_S, 'g')   ? MRD__SCOPE_GLOBAL
                       : string_is(event, MRD__CJ_S, 'p') ? MRD__SCOPE_PROCESS
                                                          : MRD__SCOPE_THREAD;
    uint32_t name = name_of(out, event);
    uint32_t category = text_of(out, event, MRD__CJ_CAT);
    uint32_t thread = scope == MRD__SCOPE_THREAD ? thread_of(out, event) : process_of(out, event);
    mrd__fact *fact = push(out, event, MRD__INSTANT, ts, name, category, thread);
    fact->flags |= (uint64_t)scope & MRD__SCOPE_MASK;
    put_args(out, event, fact);
}

/* b, e, n and S, T, p, F. */
static void emit_async(mrd__cj_out *out, const mrd__cj_event *event, mrd__phase phase)
{
    int64_t ts;
    if (!timestamp(out, event, &ts)) return;
    mrd__side side = {0};
    if (!id_of(out, event, &side)) {
        lose(out, event, MRD__LOSS_ASYNC_MISSING_ID, 0);
        return;
    }
    bool nestable = phase <= MRD__ASYNC_INSTANT;
    if (nestable && side.flags == 0) side.flags = MRD__ID_GLOBAL;
    own_facts own = own_of(out, event);
    side.next = own.arrows;
    if (own.thread) side.flags |= MRD__ID_THREAD;
    if (own.arrows == 0 && (phase == MRD__ASYNC_BEGIN || phase == MRD__ASYNC_INSTANT))
        bind_of(out, event, &side);
    bool nameless =
        phase == MRD__ASYNC_END || phase == MRD__OLD_ASYNC_STEP || phase == MRD__OLD_ASYNC_FINISH;
    uint32_t name = nameless ? text_of(out, event, MRD__CJ_NAME) : name_of(out, event);
    uint32_t category = text_of(out, event, MRD__CJ_CAT);
    /* Of a process; a thread is only known by being named. */
    bool named = mrd__cj_has(event, MRD__CJ_TID);
    uint32_t thread = named ? thread_of(out, event) : process_of(out, event);
    uint32_t extra = mrd__shard_side(out->shard, side);
    mrd__fact *fact = push(out, event, phase, ts, name, category, thread);
    fact->extra = extra;
    put_args(out, event, fact);
}

static void emit_flow(mrd__cj_out *out, const mrd__cj_event *event, mrd__phase phase)
{
    int64_t ts;
    if (!timestamp(out, event, &ts)) return;
    mrd__side side = {0};
    if (!id_of(out, event, &side)) {
        lose(out, event, MRD__LOSS_FLOW_MISSING_ID, 0);
        return;
    }
    uint32_t name = text_of(out, event, MRD__CJ_NAME);
    uint32_t category = text_of(out, event, MRD__CJ_CAT);
    uint32_t thread = thread_of(out, event);
    uint32_t extra = mrd__shard_side(out->shard, side);
    mrd__fact *fact = push(out, event, phase, ts, name, category, thread);
    fact->extra = extra;
    if (phase == MRD__FLOW_END && string_is(event, MRD__CJ_BP, 'e'))
        fact->flags |= MRD__BIND_ENCLOSING;
}

/* Name of a counter: with its id where it has one. */
static uint32_t counter_name(mrd__cj_out *out, const mrd__cj_event *event)
{
    bool named = mrd__cj_has(event, MRD__CJ_NAME);
    uint32_t name = text_of(out, event, named ? MRD__CJ_NAME : MRD__CJ_PROCESS_NAME);
    const mrd__cj_value *id = &event->fields[MRD__CJ_ID];
    if (!mrd__cj_has(event, MRD__CJ_ID) || !is_id(id) || id->size == 0) return name;
    uint32_t id_string = id_text(out, event, id);
    mrd__str text = mrd__shard_text(out->shard, name);
    mrd__buf_clear(&out->text);
    mrd__buf_str(&out->text, text);
    mrd__buf_text(&out->text, " id: ");
    mrd__buf_str(&out->text, mrd__shard_text(out->shard, id_string));
    return mrd__shard_string(out->shard, out->text.data, out->text.size, event->offset);
}

typedef struct series {
    int64_t ts;
    uint32_t name, category, thread;
} series;

static void emit_sample(mrd__cj_out *out, const mrd__cj_event *event, const series *of,
                        mrd__json_token key, mrd__json_token value)
{
    double number = 0;
    bool fits = (value.type == MRD__JSON_NUMBER || value.type == MRD__JSON_STRING) &&
                mrd__parse_double(value.text, &number);
    if (!fits) {
        /* NaN and infinities have no place in a series and are counted as nonstandard already. */
        if (!value.nonstandard) lose(out, event, MRD__LOSS_COUNTER_BAD_VALUE, 0);
        return;
    }
    mrd__cj_value text = {.at = key.text.data, .size = (uint32_t)key.text.size, .special = true};
    uint32_t extra = intern(out, event, &text);
    mrd__fact *fact = push(out, event, MRD__COUNTER, of->ts, of->name, of->category, of->thread);
    fact->value = number;
    fact->extra = extra;
}

static void emit_counter(mrd__cj_out *out, const mrd__cj_event *event)
{
    series of;
    if (!timestamp(out, event, &of.ts)) return;
    const mrd__cj_value *args = &event->fields[MRD__CJ_ARGS];
    if (!mrd__cj_has(event, MRD__CJ_ARGS) || args->type != MRD__JSON_OBJECT ||
        event->args_too_deep) {
        lose(out, event, MRD__LOSS_COUNTER_MISSING_ARGS, 0);
        return;
    }
    of.name = counter_name(out, event);
    of.category = text_of(out, event, MRD__CJ_CAT);
    of.thread = own_of(out, event).thread ? thread_of(out, event) : process_of(out, event);
    mrd__json json;
    mrd__json_token key;
    open_object(&json, args->at, args->size);
    size_t seen = 0;
    while ((key = mrd__json_next(&json)).type == MRD__JSON_KEY) {
        mrd__json_token value = mrd__json_next(&json);
        emit_sample(out, event, &of, key, value);
        seen++;
        if (!mrd__json_skip(&json, value)) break;
    }
    if (seen == 0) lose(out, event, MRD__LOSS_COUNTER_MISSING_ARGS, 0);
}

/* ---- Metadata events ---- */

/* The scalar under a key of args; the last one wins. */
static bool arg_of(const mrd__cj_event *event, const char *key, mrd__json_token *out)
{
    const mrd__cj_value *args = &event->fields[MRD__CJ_ARGS];
    if (!mrd__cj_has(event, MRD__CJ_ARGS) || args->type != MRD__JSON_OBJECT) return false;
    mrd__json json;
    mrd__json_token token;
    open_object(&json, args->at, args->size);
    bool found = false;
    while ((token = mrd__json_next(&json)).type == MRD__JSON_KEY) {
        bool wanted = mrd__str_is(token.text, key);
        token = mrd__json_next(&json);
        if (wanted) *out = token;
        found |= wanted;
        if (!mrd__json_skip(&json, token)) break;
    }
    return found && (out->type == MRD__JSON_STRING || out->type == MRD__JSON_NUMBER);
}

static void emit_metadata(mrd__cj_out *out, const mrd__cj_event *event)
{
    static const struct {
        const char *name, *key;
        mrd__phase phase;
        bool thread, number;
    } kinds[] = {{"process_name", "name", MRD__PROCESS_NAME, false, false},
                 {"thread_name", "name", MRD__THREAD_NAME, true, false},
                 {"process_labels", "labels", MRD__PROCESS_LABELS, false, false},
                 {"process_sort_index", "sort_index", MRD__PROCESS_SORT, false, true},
                 {"thread_sort_index", "sort_index", MRD__THREAD_SORT, true, true}};
    const mrd__cj_value *name = &event->fields[MRD__CJ_NAME];
    if (!mrd__cj_has(event, MRD__CJ_NAME)) return;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        mrd__json_token value;
        if (!mrd__str_is((mrd__str){name->at, name->size}, kinds[i].name)) continue;
        if (!arg_of(event, kinds[i].key, &value)) {
            lose(out, event, MRD__LOSS_METADATA_UNUSABLE, 0);
            return;
        }
        uint32_t thread = kinds[i].thread ? thread_of(out, event) : process_of(out, event);
        int64_t index = 0;
        uint32_t text = 0;
        if (kinds[i].number) {
            if (mrd__cj_whole(value.text, &index) != MRD__CJ_EXACT) {
                lose(out, event, MRD__LOSS_METADATA_UNUSABLE, 0);
                return;
            }
        } else {
            mrd__cj_value raw = {
                .at = value.text.data, .size = (uint32_t)value.text.size, .special = true};
            text = intern(out, event, &raw);
        }
        mrd__fact *fact = push(out, event, kinds[i].phase, 0, text, 0, thread);
        fact->dur = index;
        return;
    }
}

void mrd__cj_count(mrd__cj_out *out, unsigned char letter)
{
    mrd__shard_count(out->shard, letter < 0x80 ? letter : '?');
}

static void emit_phase(mrd__cj_out *out, const mrd__cj_event *event, unsigned char letter)
{
    switch (letter) {
    case 'X':
        emit_slice(out, event, MRD__COMPLETE);
        return;
    case 'B':
        emit_slice(out, event, MRD__BEGIN);
        return;
    case 'E':
        emit_slice(out, event, MRD__END);
        return;
    case 'i':
    case 'I':
    case 'R':
        emit_instant(out, event);
        return;
    case 'C':
        emit_counter(out, event);
        return;
    case 'b':
        emit_async(out, event, MRD__ASYNC_BEGIN);
        return;
    case 'e':
        emit_async(out, event, MRD__ASYNC_END);
        return;
    case 'n':
        emit_async(out, event, MRD__ASYNC_INSTANT);
        return;
    case 'S':
        emit_async(out, event, MRD__OLD_ASYNC_START);
        return;
    case 'T':
    case 'p':
        emit_async(out, event, MRD__OLD_ASYNC_STEP);
        return;
    case 'F':
        emit_async(out, event, MRD__OLD_ASYNC_FINISH);
        return;
    case 's':
        emit_flow(out, event, MRD__FLOW_START);
        return;
    case 't':
        emit_flow(out, event, MRD__FLOW_STEP);
        return;
    case 'f':
        emit_flow(out, event, MRD__FLOW_END);
        return;
    case 'M':
        emit_metadata(out, event);
        return;
    default:
        lose(out, event, MRD__LOSS_UNSUPPORTED_PHASE, letter < 0x80 ? (char)letter : '?');
    }
}

/* {}: writers end their list with it to be rid of the comma. */
static bool is_empty(const mrd__cj_event *event)
{
    if (event->present != 0) return false;
    size_t at = 1;
    while (mrd__cj_space(event->text[at]))
        at++;
    return event->text[at] == '}';
}

void mrd__cj_emit(mrd__cj_out *out, const mrd__cj_event *event)
{
    if (is_empty(event)) return;
    unsigned char letter = mrd__cj_letter(event);
    mrd__cj_count(out, letter);
    if (!event->plain)
        count_stats(out, &event->stats, event->nonstandard, event->duplicates, event->offset,
                    whole_text(event));
    if (event->string_too_long) {
        lose(out, event, MRD__LOSS_STRING_TOO_LONG, 0);
        return;
    }
    if (event->args_too_deep) lose(out, event, MRD__LOSS_ARGS_TOO_DEEP, 0);
    if (mrd__cj_has(event, MRD__CJ_SF) || mrd__cj_has(event, MRD__CJ_STACK))
        lose(out, event, MRD__LOSS_STACK_FRAMES, 0);
    if (letter == 0)
        lose(out, event, MRD__LOSS_MISSING_PHASE, 0);
    else
        emit_phase(out, event, letter);
}
