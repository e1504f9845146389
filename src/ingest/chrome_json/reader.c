/* The serial reader. One state says what comes next; each step takes one item (a key, a top-level
 * value, the elements that are whole) from the text at hand or asks for more.
 *
 *   START --'{'--> KEY <--> VALUE        KEY --'}'--> DONE --anything--> TRAILING
 *     |             |  ^
 *     |  traceEvents|  | ']' (object form)
 *     +---'['----> EVENTS ----']' (array form)---> DONE
 *                   |  ^
 *        syntax error|  | the next event found         SKIP: an item over the size limit
 *                 RESYNC
 *
 * Text that was fed and not taken is kept. It is looked at again only after it has doubled, so that
 * an item that comes byte by byte costs no more than three times its length. */
#include "ingest/chrome_json/reader.h"
#include "base/error.h"
#include "ingest/chrome_json/fast.h"
#include "ingest/chrome_json/limits.h"

#include <string.h>

typedef enum state {
    START,
    KEY,
    VALUE,
    EVENTS,
    RESYNC,
    SKIP,
    DONE,
    TRAILING,
} state;

typedef enum progress {
    GO_ON,
    WAIT,
    STOP,
    NOT_A_TRACE,
    CANCELLED
} progress;

typedef struct top_key {
    mrd__str text;
    uint64_t hash;
} top_key;

struct mrd__chrome_json_reader {
    mrd__cj_core core;
    state state;
    bool (*tick)(void *ctx, uint64_t done);
    void *tick_ctx;
    bool object_form, events_seen, started, stop_at_events, final;
    mrd__buf pending; /* fed and not yet taken */
    size_t retry_at;  /* size of pending that makes another look worth it */
    mrd__buf key;     /* of the value that comes, decoded */
    mrd__arena key_texts;
    MRD__VEC(top_key) keys; /* top-level keys seen, to count those that stand twice */
    size_t rows;            /* of metadata so far */
    /* RESYNC and TRAILING: what is being lost */
    uint64_t lost_offset, error_offset;
    const char *error_what;
    mrd__buf excerpt;
    char before; /* last byte that was no space */
    /* SKIP */
    state after_skip;
    uint64_t skip_depth;
    bool in_string, escaped;
};

/* What a step works on. */
typedef struct window {
    const char *data;
    size_t size, at;
} window;

mrd__chrome_json_reader *mrd__chrome_json_create(const mrd__cj_reader_options *options)
{
    mrd__chrome_json_reader *reader = mrd__new(mrd__chrome_json_reader);
    reader->core.out.shard = options->shard;
    reader->core.out.own_args = options->own_args;
    reader->core.fast = options->fast;
    reader->stop_at_events = options->stop_at_events;
    reader->tick = options->tick;
    reader->tick_ctx = options->tick_ctx;
    return reader;
}

void mrd__chrome_json_destroy(mrd__chrome_json_reader **reader)
{
    if (reader == NULL || *reader == NULL) return;
    mrd__cj_core_reset(&(*reader)->core);
    mrd__buf_reset(&(*reader)->pending);
    mrd__buf_reset(&(*reader)->key);
    mrd__arena_reset(&(*reader)->key_texts);
    mrd__vec_reset(&(*reader)->keys);
    mrd__buf_reset(&(*reader)->excerpt);
    mrd__free(*reader);
    *reader = NULL;
}

static void lose(mrd__chrome_json_reader *r, mrd__loss_id id, uint64_t offset, const char *text,
                 size_t size)
{
    mrd__shard_loss(r->core.out.shard, id, 0, 1, (int64_t)offset, text, size);
}

static bool skip_space(window *w)
{
    while (w->at < w->size && mrd__cj_space(w->data[w->at]))
        w->at++;
    return w->at < w->size;
}

static bool skip_separators(window *w)
{
    while (w->at < w->size && (mrd__cj_space(w->data[w->at]) || w->data[w->at] == ','))
        w->at++;
    return w->at < w->size;
}

/* ---- Lost bytes ---- */

/* Take bytes that are lost; their first ones are kept as the excerpt. */
static void take_lost(mrd__chrome_json_reader *r, window *w, size_t to)
{
    for (size_t i = w->at; i < to; i++) {
        if (r->excerpt.size < MRD__LOSS_EXCERPT) mrd__buf_char(&r->excerpt, w->data[i]);
        if (!mrd__cj_space(w->data[i])) r->before = w->data[i];
    }
    w->at = to;
}

/* A syntax error at data[error_at] in the item at the cursor. */
static progress begin_resync(mrd__chrome_json_reader *r, window *w, size_t error_at,
                             const char *what)
{
    r->lost_offset = r->core.base + w->at;
    r->error_offset = r->core.base + error_at;
    r->error_what = what;
    mrd__buf_clear(&r->excerpt);
    r->before = '\0';
    take_lost(r, w, error_at);
    r->state = RESYNC;
    return GO_ON;
}

static void end_resync(mrd__chrome_json_reader *r, uint64_t end)
{
    mrd__buf text = {0};
    mrd__buf_printf(&text,
                    "%llu bytes, %s at offset %llu: ", (unsigned long long)(end - r->lost_offset),
                    r->error_what, (unsigned long long)r->error_offset);
    mrd__buf_add(&text, r->excerpt.data, r->excerpt.size);
    lose(r, MRD__LOSS_SYNTAX_ERROR, r->lost_offset, text.data, text.size);
    mrd__buf_reset(&text);
}

/* Look for the next event: a '{' behind ',' or '[' that opens an object with a phase. */
static progress step_resync(mrd__chrome_json_reader *r, window *w)
{
    while (w->at < w->size) {
        bool candidate = w->data[w->at] == '{' && (r->before == ',' || r->before == '[');
        if (candidate) {
            mrd__cj_status status = mrd__cj_walk_is_event(&r->core.walk, w->data, w->size, w->at);
            if (status == MRD__CJ_MORE && !r->final) return WAIT;
            if (status == MRD__CJ_OK) {
                end_resync(r, r->core.base + w->at);
                r->events_seen = true;
                r->state = EVENTS;
                return GO_ON;
            }
        }
        take_lost(r, w, w->at + 1);
    }
    return WAIT;
}

/* ---- Items over the limit ---- */

static progress begin_skip(mrd__chrome_json_reader *r, state after)
{
    r->state = SKIP;
    r->after_skip = after;
    r->skip_depth = 0;
    r->in_string = r->escaped = false;
    return GO_ON;
}

/* One byte; true when the item ends before it (*taken false) or with it. */
static bool skip_byte(mrd__chrome_json_reader *r, char c, bool *taken)
{
    *taken = true;
    if (r->in_string) {
        if (r->escaped)
            r->escaped = false;
        else if (c == '\\')
            r->escaped = true;
        else if (c == '"')
            r->in_string = false;
        return !r->in_string && r->skip_depth == 0;
    }
    if (c == '"') r->in_string = true;
    if (c == '{' || c == '[') r->skip_depth++;
    if (c == '}' || c == ']') {
        *taken = r->skip_depth > 0;
        return !*taken || --r->skip_depth == 0;
    }
    if (r->skip_depth == 0 && (c == ',' || mrd__cj_space(c))) {
        *taken = false;
        return true;
    }
    return false;
}

static progress step_skip(mrd__chrome_json_reader *r, window *w)
{
    while (w->at < w->size) {
        bool taken;
        bool over = skip_byte(r, w->data[w->at], &taken);
        w->at += taken;
        if (over) {
            r->state = r->after_skip;
            return GO_ON;
        }
    }
    return WAIT;
}

/* ---- The top level ---- */

static progress step_start(mrd__chrome_json_reader *r, window *w)
{
    static const char bom[3] = {'\xef', '\xbb', '\xbf'};
    size_t left = w->size - w->at;
    if (!r->started && r->core.base + w->at == 0 && left > 0) {
        size_t compare = left < sizeof bom ? left : sizeof bom;
        bool matches = memcmp(w->data + w->at, bom, compare) == 0;
        if (matches && compare < sizeof bom) return r->final ? NOT_A_TRACE : WAIT;
        if (matches) {
            lose(r, MRD__LOSS_BOM, 0, NULL, 0);
            w->at += sizeof bom;
        }
        r->started = true;
    }
    if (!skip_space(w)) return WAIT;
    char c = w->data[w->at];
    if (c != '{' && c != '[') return NOT_A_TRACE;
    w->at++;
    r->object_form = c == '{';
    r->state = r->object_form ? KEY : EVENTS;
    r->events_seen = !r->object_form;
    return GO_ON;
}

/* Remember a top-level key; true when it was there before. */
static bool seen_before(mrd__chrome_json_reader *r, mrd__str key)
{
    uint64_t hash = mrd__hash(key.data, key.size);
    for (size_t i = 0; i < r->keys.count; i++) {
        if (r->keys.data[i].hash == hash && mrd__str_equal(r->keys.data[i].text, key)) return true;
    }
    if (r->keys.count < MRD__CJ_MAX_TOP_KEYS) {
        char *copy = mrd__arena_text(&r->key_texts, key.data, key.size);
        top_key entry = {{copy, key.size}, hash};
        mrd__vec_push(&r->keys, entry);
    }
    return false;
}

static progress step_key(mrd__chrome_json_reader *r, window *w)
{
    if (!skip_separators(w)) return WAIT;
    if (w->data[w->at] == '}') {
        w->at++;
        r->state = DONE;
        return GO_ON;
    }
    if (w->data[w->at] != '"') return begin_resync(r, w, w->at, "expected a key");
    mrd__cj_walk *walk = &r->core.walk;
    mrd__cj_value text;
    mrd__cj_walk_start(walk, w->data, w->size, w->at);
    if (mrd__cj_walk_string(walk, &text) != MRD__CJ_OK) {
        if (w->size - w->at > MRD__CJ_MAX_EVENT)
            return begin_resync(r, w, w->at + MRD__CJ_MAX_EVENT, "key without an end");
        return WAIT;
    }
    window ahead = {w->data, w->size, walk->at};
    if (!skip_space(&ahead)) return WAIT;
    if (ahead.data[ahead.at] != ':') return begin_resync(r, w, ahead.at, "expected a colon");
    mrd__buf_clear(&r->key);
    mrd__json_decode(&r->key, (mrd__str){text.at, text.size}, NULL);
    mrd__str key = {r->key.data, r->key.size};
    mrd__cj_emit_stats(&r->core.out, walk, r->core.base + w->at, key);
    if (seen_before(r, key))
        lose(r, MRD__LOSS_DUPLICATE_KEY, r->core.base + w->at, key.data, key.size);
    w->at = ahead.at + 1;
    r->state = VALUE;
    return GO_ON;
}

static bool key_is(const mrd__chrome_json_reader *r, const char *name)
{
    return mrd__str_is((mrd__str){r->key.data, r->key.size}, name);
}

/* Whole logs of other tools that nobody reads as metadata. */
static bool is_ignored(const mrd__chrome_json_reader *r)
{
    return key_is(r, "systemTraceEvents") || key_is(r, "samples");
}

/* A whole value of the key at hand. */
static void take_value(mrd__chrome_json_reader *r, mrd__str value, uint64_t offset)
{
    mrd__cj_emit_stats(&r->core.out, &r->core.walk, offset, value);
    if (key_is(r, "traceEvents"))
        lose(r, MRD__LOSS_BAD_EVENT, offset, value.data, value.size);
    else if (key_is(r, "stackFrames"))
        lose(r, MRD__LOSS_STACK_FRAMES, offset, value.data, value.size);
    else if (!is_ignored(r))
        mrd__cj_metadata(&r->core.out, (mrd__str){r->key.data, r->key.size}, value, offset,
                         &r->rows);
}

static progress step_value(mrd__chrome_json_reader *r, window *w)
{
    bool events = key_is(r, "traceEvents");
    r->events_seen |= events;
    if (!skip_space(w)) return WAIT;
    if (events && w->data[w->at] == '[') {
        w->at++;
        r->state = EVENTS;
        return GO_ON;
    }
    bool large = w->size - w->at > MRD__CJ_MAX_EVENT;
    mrd__cj_walk *walk = &r->core.walk;
    mrd__cj_walk_start(walk, w->data, large ? w->at + MRD__CJ_MAX_EVENT : w->size, w->at);
    mrd__cj_status status = mrd__cj_walk_value(walk);
    if (status == MRD__CJ_ERROR) return begin_resync(r, w, walk->error_at, walk->error_what);
    if (status == MRD__CJ_MORE) {
        if (!large) return WAIT;
        bool frames = key_is(r, "stackFrames");
        if (!is_ignored(r))
            lose(r, frames ? MRD__LOSS_STACK_FRAMES : MRD__LOSS_METADATA_LIMIT,
                 r->core.base + w->at, w->data + w->at, MRD__LOSS_EXCERPT);
        return begin_skip(r, KEY);
    }
    take_value(r, (mrd__str){w->data + w->at, walk->at - w->at}, r->core.base + w->at);
    w->at = walk->at;
    r->state = KEY;
    return GO_ON;
}

static progress step_events(mrd__chrome_json_reader *r, window *w)
{
    if (r->stop_at_events) return STOP;
    mrd__cj_walk *walk = &r->core.walk;
    size_t until = w->size - w->at > MRD__CJ_TICK ? w->at + MRD__CJ_TICK : SIZE_MAX;
    switch (mrd__cj_read_elements(&r->core, w->data, w->size, &w->at, until)) {
    case MRD__CJ_REACHED:
        return r->tick == NULL || r->tick(r->tick_ctx, r->core.base + w->at) ? GO_ON : CANCELLED;
    case MRD__CJ_CLOSED:
        r->state = r->object_form ? KEY : DONE;
        return GO_ON;
    case MRD__CJ_BROKEN:
        return begin_resync(r, w, walk->error_at, walk->error_what);
    case MRD__CJ_TOO_LARGE:
        if (r->core.large_event) mrd__cj_count(&r->core.out, r->core.large_letter);
        lose(r, MRD__LOSS_EVENT_TOO_LARGE, r->core.base + w->at, w->data + w->at,
             MRD__LOSS_EXCERPT);
        return begin_skip(r, EVENTS);
    default:
        return WAIT;
    }
}

static progress step_done(mrd__chrome_json_reader *r, window *w)
{
    if (!skip_space(w)) return WAIT;
    r->lost_offset = r->core.base + w->at;
    mrd__buf_clear(&r->excerpt);
    r->state = TRAILING;
    return GO_ON;
}

static progress step(mrd__chrome_json_reader *r, window *w)
{
    switch (r->state) {
    case START:
        return step_start(r, w);
    case KEY:
        return step_key(r, w);
    case VALUE:
        return step_value(r, w);
    case EVENTS:
        return step_events(r, w);
    case RESYNC:
        return step_resync(r, w);
    case SKIP:
        return step_skip(r, w);
    case DONE:
        return step_done(r, w);
    default:
        take_lost(r, w, w->size);
        return WAIT;
    }
}

static mrd_status run(mrd__chrome_json_reader *r, window *w, mrd_error *error)
{
    progress now;
    do {
        now = step(r, w);
    } while (now == GO_ON);
    if (now == CANCELLED) return mrd__fail(error, MRD_ERR_CANCELLED, "cancelled", "cancelled");
    if (now != NOT_A_TRACE) return MRD_OK;
    return mrd__fail(error, MRD_ERR_FORMAT, "not_a_trace",
                     "not a Chrome trace: it begins with neither '{' nor '['");
}

/* ---- Doors ---- */

/* The fast walker runs into zeros at the end of the text. */
static void zero_slack(mrd__buf *pending)
{
    mrd__buf_reserve(pending, MRD__CJ_SLACK);
    memset(pending->data + pending->size, 0, MRD__CJ_SLACK);
}

static mrd_status run_pending(mrd__chrome_json_reader *r, mrd_error *error)
{
    if (r->core.fast) zero_slack(&r->pending);
    window w = {r->pending.data, r->pending.size, 0};
    MRD__TRY(run(r, &w, error));
    size_t left = w.size - w.at;
    if (left > 0 && w.at > 0) memmove(r->pending.data, r->pending.data + w.at, left);
    r->pending.size = left;
    r->core.base += w.at;
    r->retry_at = 2 * left;
    return MRD_OK;
}

mrd_status mrd__chrome_json_feed(mrd__chrome_json_reader *r, const char *data, size_t size,
                                 mrd_error *error)
{
    while (size > 0) {
        /* Never much more than one item over the limit at a time. */
        size_t piece = size < MRD__CJ_MAX_EVENT ? size : MRD__CJ_MAX_EVENT;
        mrd__buf_add(&r->pending, data, piece);
        data += piece;
        size -= piece;
        bool over = r->pending.size > MRD__CJ_MAX_EVENT;
        if (r->pending.size < r->retry_at && !over) continue;
        MRD__TRY(run_pending(r, error));
    }
    return MRD_OK;
}

static void count_cut(mrd__chrome_json_reader *r)
{
    /* A value of no event gives no hint of what was lost: only its place. */
    size_t keep = r->pending.size < MRD__LOSS_EXCERPT ? r->pending.size : MRD__LOSS_EXCERPT;
    lose(r, MRD__LOSS_TRUNCATED_INPUT, r->core.base, r->pending.data, keep);
}

mrd_status mrd__chrome_json_finish(mrd__chrome_json_reader *r, bool cut, mrd_error *error)
{
    r->final = true;
    r->stop_at_events = false; /* the next event may come to light only now, see step_resync */
    MRD__TRY(run_pending(r, error));
    if (r->state == START)
        return mrd__fail(error, MRD_ERR_FORMAT, "not_a_trace", "not a Chrome trace: it is empty");
    if (!r->events_seen)
        return mrd__fail(error, MRD_ERR_FORMAT, "no_trace_events",
                         "not a Chrome trace: the JSON object has no \"traceEvents\"");
    if (r->state == RESYNC)
        end_resync(r, r->core.base);
    else if (r->state == TRAILING)
        lose(r, MRD__LOSS_TRAILING_DATA, r->lost_offset, r->excerpt.data, r->excerpt.size);
    if (cut || (r->state != RESYNC && r->state != TRAILING && r->state != DONE)) count_cut(r);
    return MRD_OK;
}

mrd_status mrd__chrome_json_map(mrd__chrome_json_reader *r, const char *data, size_t size,
                                size_t *at, mrd_error *error)
{
    window w = {data, size, *at};
    r->core.base = 0;
    MRD__TRY(run(r, &w, error));
    *at = w.at;
    if (mrd__chrome_json_at_events(r)) return MRD_OK;
    /* The tail that waits for more becomes what finish looks at. */
    r->core.base = w.at;
    mrd__buf_clear(&r->pending);
    if (w.at < w.size) mrd__buf_add(&r->pending, data + w.at, w.size - w.at);
    return MRD_OK;
}

bool mrd__chrome_json_at_events(const mrd__chrome_json_reader *r)
{
    return r->stop_at_events && r->state == EVENTS;
}

void mrd__chrome_json_resume(mrd__chrome_json_reader *r, bool closed)
{
    r->stop_at_events = false;
    if (closed) r->state = r->object_form ? KEY : DONE;
}
