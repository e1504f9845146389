#include "query/store_kit.h"

#include "base/json.h"
#include "model/args.h"

#include <stdlib.h>
#include <string.h>

enum { /* facts of one kind; tracks, rows, strings; bytes of args */
    ROOM = 200000,
    SMALL = 4096,
    TEXTS = 65536
};

mrd__store *kit_store(int64_t origin_ns)
{
    mrd__store *store = mrd__new(mrd__store);
    store->origin_ns = origin_ns;
    store->empty = true;
    store->strings = mrd__new_array(mrd__str, SMALL);
    store->string_count = 1;
    store->strings[0] = MRD__STR("");
    store->processes = mrd__new_array(mrd__process, SMALL);
    store->process_names = mrd__new_array(mrd__str_id, SMALL);
    store->threads = mrd__new_array(mrd__thread, SMALL);
    store->tracks = mrd__new_array(mrd__track, SMALL);
    store->row_infos = mrd__new_array(mrd__row, SMALL);
    store->rows.first = mrd__new_array(uint64_t, SMALL + 1);
    mrd__slices *slices = &store->slices;
    slices->start = mrd__new_array(double, ROOM);
    slices->end = mrd__new_array(double, ROOM);
    slices->name = mrd__new_array(mrd__str_id, ROOM);
    slices->category = mrd__new_array(mrd__str_id, ROOM);
    slices->parent = mrd__new_array(uint32_t, ROOM);
    slices->args = mrd__new_array(mrd__args_ref, ROOM);
    slices->flags = mrd__new_array(uint8_t, ROOM);
    slices->order = mrd__new_array(uint32_t, ROOM);
    mrd__instants *instants = &store->instants;
    instants->time = mrd__new_array(double, ROOM);
    instants->name = mrd__new_array(mrd__str_id, ROOM);
    instants->category = mrd__new_array(mrd__str_id, ROOM);
    instants->args = mrd__new_array(mrd__args_ref, ROOM);
    instants->order = mrd__new_array(uint32_t, ROOM);
    store->counters.time = mrd__new_array(double, ROOM);
    store->counters.value = mrd__new_array(double, ROOM);
    store->counters.order = mrd__new_array(uint32_t, ROOM);
    store->flows = mrd__new_array(mrd__flow, SMALL);
    store->flow_by_from = mrd__new_array(uint32_t, SMALL);
    store->flow_by_to = mrd__new_array(uint32_t, SMALL);
    store->blobs = mrd__new(mrd__text_blob);
    store->blobs->data = mrd__calloc(TEXTS, 1);
    store->blob_count = 1;
    return store;
}

void kit_free(mrd__store **handle)
{
    mrd__store *store = *handle;
    mrd__rows_reset(&store->rows);
    mrd__pyramid_reset(&store->counters.pyramid);
    mrd__free(store->blobs->data);
    void *const blocks[] = {
        store->strings,
        store->processes,
        store->process_names,
        store->threads,
        store->tracks,
        store->row_infos,
        store->slices.start,
        store->slices.end,
        store->slices.name,
        store->slices.category,
        store->slices.parent,
        store->slices.args,
        store->slices.flags,
        store->slices.order,
        store->instants.time,
        store->instants.name,
        store->instants.category,
        store->instants.args,
        store->instants.order,
        store->counters.time,
        store->counters.value,
        store->counters.order,
        store->flows,
        store->flow_by_from,
        store->flow_by_to,
        store->blobs,
    };
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        mrd__free(blocks[i]);
    mrd__arena_reset(&store->string_bytes);
    mrd__free(store);
    *handle = NULL;
}

mrd__str_id kit_string(mrd__store *store, const char *text)
{
    for (size_t i = 0; i < store->string_count; i++)
        if (mrd__str_is(store->strings[i], text)) return (mrd__str_id)i;
    assert_true(store->string_count < SMALL);
    size_t size = strlen(text);
    store->strings[store->string_count] =
        (mrd__str){mrd__arena_text(&store->string_bytes, text, size), size};
    return (mrd__str_id)store->string_count++;
}

uint32_t kit_process(mrd__store *store, int64_t pid, const char *name)
{
    assert_true(store->process_count < SMALL);
    store->processes[store->process_count] = (mrd__process){
        .pid = {.kind = MRD__IDENT_NUMBER, .number = pid}, .name = kit_string(store, name)};
    return (uint32_t)store->process_count++;
}

uint32_t kit_thread(mrd__store *store, uint32_t process, int64_t tid, const char *name)
{
    assert_true(store->thread_count < SMALL);
    store->threads[store->thread_count] =
        (mrd__thread){.process = process,
                      .tid = {.kind = MRD__IDENT_NUMBER, .number = tid},
                      .name = kit_string(store, name)};
    return (uint32_t)store->thread_count++;
}

static uint64_t facts_of(const mrd__store *store, mrd__track_kind kind)
{
    return kind == MRD__TRACK_COUNTER   ? store->counters.count
           : kind == MRD__TRACK_INSTANT ? store->instants.count
                                        : store->slices.count;
}

uint32_t kit_track(mrd__store *store, mrd__track_kind kind, const char *name, uint32_t process,
                   uint32_t thread)
{
    assert_true(store->track_count < SMALL);
    store->tracks[store->track_count] = (mrd__track){.kind = (uint8_t)kind,
                                                     .parent = MRD__NONE,
                                                     .name = kit_string(store, name),
                                                     .process = process,
                                                     .thread = thread,
                                                     .first_row = store->rows.row_count,
                                                     .first = facts_of(store, kind),
                                                     .event_key = MRD__NONE};
    return (uint32_t)store->track_count++;
}

static mrd__track *last_track(mrd__store *store)
{
    return &store->tracks[store->track_count - 1];
}

uint32_t kit_row(mrd__store *store, uint16_t depth, uint16_t line)
{
    uint32_t row = store->rows.row_count++;
    assert_true(row < SMALL);
    store->row_infos[row] = (mrd__row){(uint32_t)store->track_count - 1, depth, line};
    store->rows.first[row + 1] = store->rows.first[row];
    last_track(store)->row_count++;
    return row;
}

uint32_t kit_slice(mrd__store *store, double start, double end, const char *name)
{
    mrd__slices *slices = &store->slices;
    uint64_t id = slices->count++;
    assert_true(id < ROOM);
    slices->start[id] = start;
    slices->end[id] = end;
    slices->name[id] = kit_string(store, name);
    slices->category[id] = kit_string(store, "cat");
    slices->parent[id] = MRD__NONE;
    store->rows.first[store->rows.row_count]++;
    last_track(store)->count++;
    return (uint32_t)id;
}

uint32_t kit_instant(mrd__store *store, double time, const char *name)
{
    uint64_t id = store->instants.count++;
    assert_true(id < ROOM);
    store->instants.time[id] = time;
    store->instants.name[id] = kit_string(store, name);
    last_track(store)->count++;
    return (uint32_t)id;
}

uint32_t kit_sample(mrd__store *store, double time, double value)
{
    uint64_t id = store->counters.count++;
    assert_true(id < ROOM);
    store->counters.time[id] = time;
    store->counters.value[id] = value;
    last_track(store)->count++;
    return (uint32_t)id;
}

mrd__args_ref kit_args(mrd__store *store, const char *text)
{
    mrd__text_blob *blob = store->blobs;
    size_t at = blob->size;
    blob->size += strlen(text);
    assert_true(blob->size <= TEXTS);
    memcpy(blob->data + at, text, blob->size - at);
    return mrd__args_make(MRD__ARGS_BLOB, at + 1);
}

void kit_flow(mrd__store *store, uint32_t from, uint32_t to, const char *name)
{
    assert_true(store->flow_count < SMALL);
    store->flows[store->flow_count++] = (mrd__flow){.category = kit_string(store, "flow"),
                                                    .name = kit_string(store, name),
                                                    .id = kit_string(store, "0x1"),
                                                    .from = from,
                                                    .to = to,
                                                    .from_time = store->slices.start[from],
                                                    .to_time = store->slices.start[to]};
}

/* ---- Sealing ---- */

/* Flow indices by the slice at one end; few flows, so by insertion. */
static void sort_flows(const mrd__store *store, uint32_t *by, bool from)
{
    for (uint32_t i = 0; i < store->flow_count; i++) {
        uint32_t at = i;
        uint32_t slice = from ? store->flows[i].from : store->flows[i].to;
        for (; at > 0; at--) {
            const mrd__flow *before = &store->flows[by[at - 1]];
            if ((from ? before->from : before->to) <= slice) break;
            by[at] = by[at - 1];
        }
        by[at] = i;
    }
}

static const double *rank_times;

static int by_time(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a;
    uint32_t right = *(const uint32_t *)b;
    if (rank_times[left] != rank_times[right]) return rank_times[left] < rank_times[right] ? -1 : 1;
    return left < right ? -1 : 1;
}

/* Ranks in (time, index): the index stands for the file order. */
static void fill_ranks(uint32_t *order, const double *time, uint64_t count)
{
    uint32_t *sorted = mrd__new_array(uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = i;
    rank_times = time;
    qsort(sorted, count, sizeof *sorted, by_time);
    for (uint32_t i = 0; i < count; i++)
        order[sorted[i]] = i;
    mrd__free(sorted);
}

static void widen(mrd__store *store, const double *from, const double *to, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        int64_t start = store->origin_ns + (int64_t)from[i];
        int64_t end = store->origin_ns + (int64_t)to[i] + (to[i] > (double)(int64_t)to[i]);
        if (store->empty || start < store->start_ns) store->start_ns = start;
        if (store->empty || end > store->end_ns) store->end_ns = end;
        store->empty = false;
    }
}

void kit_seal(mrd__store *store)
{
    store->rows.start = store->slices.start;
    store->rows.end = store->slices.end;
    store->rows.count = store->slices.count;
    mrd__rows_build(&store->rows, 2);
    mrd__pyramid_build(&store->counters.pyramid, store->counters.value, store->counters.count, 2);
    fill_ranks(store->slices.order, store->slices.start, store->slices.count);
    fill_ranks(store->instants.order, store->instants.time, store->instants.count);
    fill_ranks(store->counters.order, store->counters.time, store->counters.count);
    sort_flows(store, store->flow_by_from, true);
    sort_flows(store, store->flow_by_to, false);
    widen(store, store->slices.start, store->slices.end, store->slices.count);
    widen(store, store->instants.time, store->instants.time, store->instants.count);
    widen(store, store->counters.time, store->counters.time, store->counters.count);
}

/* ---- Questions ---- */

mrd_params *kit_params(const char *query)
{
    mrd_params *params = mrd_params_create();
    mrd_error error = {0};
    if (mrd_params_add_query(params, query, strlen(query), &error) != MRD_OK)
        fail_msg("%s: %s", query, error.message);
    return params;
}

void kit_check_json(const mrd__buf *text)
{
    mrd__json json;
    mrd__json_token token;
    mrd__json_init(&json, text->data, text->size);
    do {
        token = mrd__json_next(&json);
        assert_false(token.nonstandard);
        if (token.type == MRD__JSON_ERROR)
            fail_msg("%s at %zu: %s", json.error_what, json.error_at, text->data);
    } while (token.type != MRD__JSON_END);
    assert_true(mrd__utf8_valid((mrd__str){text->data, text->size}));
}

bool kit_holds(const mrd__buf *text, const char *word)
{
    return memmem(text->data, text->size, word, strlen(word)) != NULL;
}

static void take_apart(kit_answer *answer)
{
    const char *at = answer->text.data;
    const char *end = at + answer->text.size;
    size_t line = 0;
    while (at < end) {
        const char *stop = at;
        while (*stop != ',' && *stop != '\n')
            stop++;
        mrd__str field = {at, (size_t)(stop - at)};
        if (line == 0)
            answer->columns++;
        else
            mrd__vec_push(&answer->fields, field);
        line += *stop == '\n';
        at = stop + 1;
    }
    answer->rows = line - 1;
    assert_int_equal(answer->fields.count, answer->rows * answer->columns);
}

kit_answer kit_ask(const mrd__store *store, const char *query, bool absolute, mrd_format format)
{
    kit_answer answer = {0};
    mrd_params *params = kit_params(query);
    mrd_sink sink = mrd__buf_sink(&answer.text);
    answer.status = mrd__query_window(store, params, absolute, format, &sink, &answer.error);
    mrd_params_destroy(&params);
    if (answer.status == MRD_OK && format == MRD_FORMAT_CSV) take_apart(&answer);
    return answer;
}

void kit_answer_reset(kit_answer *answer)
{
    mrd__buf_reset(&answer->text);
    mrd__vec_reset(&answer->fields);
}

mrd__str kit_field(const kit_answer *answer, size_t row, size_t column)
{
    assert_true(row < answer->rows && column < answer->columns);
    return answer->fields.data[row * answer->columns + column];
}

double kit_double(const kit_answer *answer, size_t row, size_t column)
{
    double value = 0;
    assert_true(mrd__parse_double(kit_field(answer, row, column), &value));
    return value;
}

int64_t kit_int(const kit_answer *answer, size_t row, size_t column)
{
    int64_t value = 0;
    assert_true(mrd__parse_int64(kit_field(answer, row, column), &value));
    return value;
}
