/* `args`: one row a leaf, flattened from the text when somebody asks. Arg sets are numbered like
 * the rows of `slice`; those of the import log follow. The scalar function mrd_arg(set, key) looks
 * at one set alone, so that EXTRACT_ARG costs nothing for slices that are not looked at. */
#include "base/alloc.h"
#include "base/error.h"
#include "query/args_flat.h"
#include "sql/table.h"

#include <string.h>

enum {
    ID,
    ARG_SET_ID,
    FLAT_KEY,
    KEY,
    INT_VALUE,
    STRING_VALUE,
    REAL_VALUE,
    VALUE_TYPE,
    DISPLAY_VALUE
};

const mrd__sql_column mrd__sql_args_columns[] = {
    {"id", MRD__SQL_INT},          {"arg_set_id", MRD__SQL_INT},  {"flat_key", MRD__SQL_TEXT},
    {"key", MRD__SQL_TEXT},        {"int_value", MRD__SQL_INT},   {"string_value", MRD__SQL_TEXT},
    {"real_value", MRD__SQL_REAL}, {"value_type", MRD__SQL_TEXT}, {"display_value", MRD__SQL_TEXT},
};
const size_t mrd__sql_args_width = sizeof mrd__sql_args_columns / sizeof mrd__sql_args_columns[0];

/* A row, texts as offsets in reader.text. */
typedef struct leaf {
    int64_t set;
    size_t key, key_size, value, value_size;
    mrd__arg_type type;
} leaf;

/* Reads arg sets; one thread at a time. */
typedef struct reader {
    const mrd__sql *sql;
    mrd__flat *flat;
    mrd__buf scratch, text;
    MRD__VEC(leaf) leaves;
    int64_t set;
    const char *prefix;
} reader;

static void reader_reset(reader *r)
{
    mrd__flat_destroy(&r->flat);
    mrd__buf_reset(&r->scratch);
    mrd__buf_reset(&r->text);
    mrd__vec_reset(&r->leaves);
}

static void add(reader *r, const char *prefix, mrd__str key, mrd__arg_type type, mrd__str value)
{
    leaf one = {.set = r->set, .key = r->text.size, .type = type};
    mrd__buf_text(&r->text, prefix);
    mrd__buf_str(&r->text, key);
    one.key_size = r->text.size - one.key;
    one.value = r->text.size;
    mrd__buf_str(&r->text, value);
    one.value_size = value.size;
    mrd__vec_push(&r->leaves, one);
}

static mrd_status take(void *ctx, const mrd__arg *arg, mrd_error *error)
{
    (void)error;
    reader *r = ctx;
    /* Nulls and empty containers are no args, as in the original. */
    bool empty = arg->type == MRD__ARG_TEXT &&
                 (mrd__str_is(arg->value, "{}") || mrd__str_is(arg->value, "[]"));
    if (arg->type != MRD__ARG_NULL && !empty) add(r, r->prefix, arg->key, arg->type, arg->value);
    return MRD_OK;
}

/* The original's prefix for what came with an event of this file. */
static const char *prefix_of(const mrd__sql *sql, uint32_t track)
{
    uint32_t file = sql->store->tracks[track].file;
    if (file >= sql->store->file_count) return "args.";
    return mrd__str_is(mrd__str_of(sql->store->files[file].format), "perfetto") ? "debug."
                                                                                : "args.";
}

/* ---- The log of overlaps ---- */

/* The slice of the track's first row group that the overlapping one lies across. */
static uint64_t conflicting(const mrd__sql *sql, uint64_t slice)
{
    const mrd__store *store = sql->store;
    uint32_t row = mrd__store_row_of(store, slice);
    const mrd__track *track = &store->tracks[store->row_infos[row].track];
    double start = store->slices.start[slice];
    for (uint32_t at = track->first_row; at < row; at++) {
        uint64_t found = mrd__rows_first_touching(&store->rows, at, start);
        if (found < store->rows.first[at + 1] && store->slices.start[found] <= start) return found;
    }
    return slice;
}

static void add_number(reader *r, const char *key, int64_t value)
{
    mrd__buf text = {0};
    mrd__buf_int(&text, value);
    add(r, "", mrd__str_of(key), MRD__ARG_INT, (mrd__str){text.data, text.size});
    mrd__buf_reset(&text);
}

static void read_log(reader *r, uint64_t index)
{
    const mrd__store *store = r->sql->store;
    uint64_t late = r->sql->overlapped.data[index];
    uint64_t first = conflicting(r->sql, late);
    int64_t first_start = mrd__store_slice_start(store, first);
    int64_t first_end = mrd__store_slice_end(store, first);
    int64_t late_end = mrd__store_slice_end(store, late);
    add_number(r, "conflicting_slice_dur", first_end - first_start);
    add(r, "", MRD__STR("conflicting_slice_name"), MRD__ARG_STRING,
        mrd__store_str(store, store->slices.name[first]));
    add_number(r, "conflicting_slice_ts", first_start);
    add(r, "", MRD__STR("event_name"), MRD__ARG_STRING,
        mrd__store_str(store, store->slices.name[late]));
    add(r, "", MRD__STR("event_phase"), MRD__ARG_STRING, MRD__STR("X"));
    add_number(r, "overlap_end", first_end < late_end ? first_end : late_end);
    add_number(r, "overlap_start", mrd__store_slice_start(store, late));
}

/* ---- One set ---- */

static mrd_status read_text(reader *r, mrd__args_ref ref, mrd_error *error)
{
    mrd__str text;
    if (ref == 0) return MRD_OK;
    MRD__TRY(mrd__store_args(r->sql->store, ref, &r->scratch, &text, error));
    return mrd__args_flatten(r->flat, text, take, r, error);
}

static uint32_t instant_track(const mrd__sql *sql, uint64_t instant)
{
    const uint32_t *tracks = sql->instant_tracks.data;
    size_t low = 0;
    size_t high = sql->instant_tracks.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (sql->store->tracks[tracks[middle]].first <= instant)
            low = middle;
        else
            high = middle;
    }
    return tracks[low];
}

static mrd_status read_set(reader *r, uint64_t set, mrd_error *error)
{
    const mrd__sql *sql = r->sql;
    const mrd__store *store = sql->store;
    r->set = (int64_t)set;
    r->prefix = "args.";
    if (set < store->slices.count) {
        if (store->slices.args[set] == 0) return MRD_OK;
        r->prefix = prefix_of(sql, store->row_infos[mrd__store_row_of(store, set)].track);
        return read_text(r, store->slices.args[set], error);
    }
    if (set < sql->first_instant) return MRD_OK;
    if (set < sql->first_event_instant) {
        uint64_t instant = set - sql->first_instant;
        r->prefix = prefix_of(sql, instant_track(sql, instant));
        return read_text(r, store->instants.args[instant], error);
    }
    if (set >= mrd__sql_total(sql)) {
        if (set - mrd__sql_total(sql) < sql->overlapped.count)
            read_log(r, set - mrd__sql_total(sql));
        return MRD_OK;
    }
    mrd__str detail;
    uint32_t rank = mrd__event_rank(sql->events, set - sql->first_event_instant);
    if (!mrd__event_detail(sql->events, rank, &detail)) return MRD_OK;
    return mrd__args_flatten(r->flat, detail, take, r, error);
}

/* ---- The table function ---- */

static const mrd__duck_api *api_of_process;

typedef struct scan {
    pthread_mutex_t lock;
    uint64_t next, end;
    size_t width;
    idx_t *columns;
} scan;

typedef struct local {
    reader reader;
    size_t given; /* leaves already in a chunk */
} local;

static void bind(duckdb_bind_info info)
{
    const mrd__duck_api *api = api_of_process;
    mrd__sql *sql = api->bind_get_extra_info(info);
    for (size_t i = 0; i < mrd__sql_args_width; i++) {
        mrd__sql_type type = mrd__sql_args_columns[i].type;
        duckdb_logical_type duck =
            api->create_logical_type(type == MRD__SQL_INT    ? DUCKDB_TYPE_BIGINT
                                     : type == MRD__SQL_REAL ? DUCKDB_TYPE_DOUBLE
                                                             : DUCKDB_TYPE_VARCHAR);
        api->bind_add_result_column(info, mrd__sql_args_columns[i].name, duck);
        api->destroy_logical_type(&duck);
    }
    uint64_t *range = mrd__new_array(uint64_t, 2);
    range[1] = mrd__sql_total(sql) + sql->overlapped.count;
    duckdb_value value = api->bind_get_named_parameter(info, "arg_set_id");
    if (value != NULL && !api->is_null_value(value)) {
        uint64_t set = (uint64_t)api->get_int64(value);
        range[0] = set < range[1] ? set : range[1];
        range[1] = range[0] + (set < range[1]);
    }
    if (value != NULL) api->destroy_value(&value);
    api->bind_set_bind_data(info, range, mrd__free);
}

static void free_scan(void *data)
{
    scan *s = data;
    pthread_mutex_destroy(&s->lock);
    mrd__free(s->columns);
    mrd__free(s);
}

static void init(duckdb_init_info info)
{
    const mrd__duck_api *api = api_of_process;
    const uint64_t *range = api->init_get_bind_data(info);
    scan *s = mrd__new(scan);
    pthread_mutex_init(&s->lock, NULL);
    s->next = range[0];
    s->end = range[1];
    s->width = api->init_get_column_count(info);
    s->columns = mrd__new_array(idx_t, s->width + 1);
    for (size_t i = 0; i < s->width; i++)
        s->columns[i] = api->init_get_column_index(info, i);
    api->init_set_max_threads(info, 1 + (s->end - s->next) / (16 * MRD__SQL_ARGS_BLOCK));
    api->init_set_init_data(info, s, free_scan);
}

static void free_local(void *data)
{
    local *mine = data;
    reader_reset(&mine->reader);
    mrd__free(mine);
}

static void local_init(duckdb_init_info info)
{
    local *mine = mrd__new(local);
    mine->reader.sql = api_of_process->init_get_extra_info(info);
    mine->reader.flat = mrd__flat_create();
    api_of_process->init_set_init_data(info, mine, free_local);
}

/* The next block of sets with leaves; false at the end. */
static bool read_block(scan *s, reader *r, mrd_error *error, mrd_status *status)
{
    r->leaves.count = r->text.size = 0;
    while (r->leaves.count == 0) {
        pthread_mutex_lock(&s->lock);
        uint64_t set = s->next;
        uint64_t end = s->end - set > MRD__SQL_ARGS_BLOCK ? set + MRD__SQL_ARGS_BLOCK : s->end;
        s->next = end;
        pthread_mutex_unlock(&s->lock);
        if (set == end) return false;
        for (; set < end && *status == MRD_OK; set++)
            *status = read_set(r, set, error);
        if (*status != MRD_OK) return false;
    }
    return true;
}

static mrd__str value_of(const reader *r, const leaf *one)
{
    return (mrd__str){r->text.data + one->value, one->value_size};
}

/* int_value, real_value and value_type of a leaf that is no text. */
static void put_number(mrd__sql_out *out, size_t i, unsigned column, const leaf *one,
                       mrd__str value)
{
    int64_t whole;
    double real;
    bool is_bool = one->type == MRD__ARG_BOOL;
    bool is_int = one->type == MRD__ARG_INT && mrd__parse_int64(value, &whole);
    if (column == INT_VALUE && is_bool)
        mrd__sql_put_int(out, i, value.data[0] == 't');
    else if (column == INT_VALUE && is_int)
        mrd__sql_put_int(out, i, whole);
    else if (column == REAL_VALUE && !is_bool && !is_int && mrd__parse_double(value, &real))
        mrd__sql_put_real(out, i, real);
    else if (column == VALUE_TYPE)
        mrd__sql_put_text(out, i,
                          is_bool  ? MRD__STR("bool")
                          : is_int ? MRD__STR("int")
                                   : MRD__STR("real"));
    else
        mrd__sql_put_null(out, i);
}

/* a.b[0].c as a.b.c */
static void put_flat_key(mrd__sql_out *out, size_t i, mrd__str key, mrd__buf *scratch)
{
    mrd__buf_clear(scratch);
    for (size_t at = 0; at < key.size; at++) {
        size_t end = at + 1;
        while (key.data[at] == '[' && end < key.size && key.data[end] >= '0' &&
               key.data[end] <= '9')
            end++;
        if (end > at + 1 && end < key.size && key.data[end] == ']')
            at = end;
        else
            mrd__buf_char(scratch, key.data[at]);
    }
    mrd__sql_put_copy(out, i, (mrd__str){scratch->data ? scratch->data : "", scratch->size});
}

static void put_leaf(reader *r, const leaf *one, unsigned column, mrd__sql_out *out, size_t i)
{
    mrd__str value = value_of(r, one);
    mrd__str key = {r->text.data + one->key, one->key_size};
    bool text = one->type == MRD__ARG_STRING || one->type == MRD__ARG_TEXT;
    switch (column) {
    case ID:
    case ARG_SET_ID:
        mrd__sql_put_int(out, i, one->set);
        return;
    case FLAT_KEY:
        put_flat_key(out, i, key, &r->scratch);
        return;
    case KEY:
        mrd__sql_put_copy(out, i, key);
        return;
    case DISPLAY_VALUE:
        mrd__sql_put_copy(out, i, value);
        return;
    case STRING_VALUE:
        if (text)
            mrd__sql_put_copy(out, i, value);
        else
            mrd__sql_put_null(out, i);
        return;
    default:
        if (text && column == VALUE_TYPE)
            mrd__sql_put_text(out, i, MRD__STR("string"));
        else if (text)
            mrd__sql_put_null(out, i);
        else
            put_number(out, i, column, one, value);
    }
}

static void next_chunk(duckdb_function_info info, duckdb_data_chunk chunk)
{
    const mrd__duck_api *api = api_of_process;
    scan *s = api->function_get_init_data(info);
    local *mine = api->function_get_local_init_data(info);
    reader *r = &mine->reader;
    mrd_error error = {0};
    mrd_status status = MRD_OK;
    if (mine->given == r->leaves.count) {
        mine->given = 0;
        if (!read_block(s, r, &error, &status)) {
            if (status != MRD_OK) api->function_set_error(info, error.message);
            api->data_chunk_set_size(chunk, 0);
            return;
        }
    }
    size_t rows = r->leaves.count - mine->given;
    if (rows > MRD__DUCK_BATCH) rows = MRD__DUCK_BATCH;
    for (size_t c = 0; c < s->width; c++) {
        if (s->columns[c] >= mrd__sql_args_width) continue;
        mrd__sql_out out = {.api = api, .vector = api->data_chunk_get_vector(chunk, c)};
        out.data = api->vector_get_data(out.vector);
        for (size_t i = 0; i < rows; i++)
            put_leaf(r, &r->leaves.data[mine->given + i], (unsigned)s->columns[c], &out, i);
    }
    mine->given += rows;
    api->data_chunk_set_size(chunk, rows);
}

/* ---- The scalar function ---- */

static void find_arg(reader *r, uint64_t set, mrd__str key, mrd__sql_out *out, size_t i,
                     duckdb_function_info info)
{
    mrd_error error = {0};
    r->leaves.count = r->text.size = 0;
    if (read_set(r, set, &error) != MRD_OK) {
        out->api->scalar_function_set_error(info, error.message);
        return;
    }
    for (size_t l = 0; l < r->leaves.count; l++) {
        const leaf *one = &r->leaves.data[l];
        mrd__str its = {r->text.data + one->key, one->key_size};
        mrd__str value = value_of(r, one);
        /* As the original gives them: truth values are numbers. */
        if (one->type == MRD__ARG_BOOL)
            value = value.data[0] == 't' ? MRD__STR("1") : MRD__STR("0");
        if (!mrd__str_equal(its, key)) continue;
        mrd__sql_put_copy(out, i, value);
        return;
    }
    mrd__sql_put_null(out, i);
}

static void arg_function(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const mrd__duck_api *api = api_of_process;
    const mrd__sql *sql = api->scalar_function_get_extra_info(info);
    uint64_t total = mrd__sql_total(sql) + sql->overlapped.count;
    size_t rows = api->data_chunk_get_size(input);
    mrd__duck_column columns[2];
    for (size_t c = 0; c < 2; c++) {
        duckdb_vector vector = api->data_chunk_get_vector(input, c);
        columns[c].data = api->vector_get_data(vector);
        columns[c].validity = api->vector_get_validity(vector);
    }
    mrd__sql_out out = {.api = api, .vector = output, .data = api->vector_get_data(output)};
    reader r = {.sql = sql, .flat = mrd__flat_create()};
    for (size_t i = 0; i < rows; i++) {
        int64_t set = ((const int64_t *)columns[0].data)[i];
        if (!mrd__duck_valid(&columns[0], i) || !mrd__duck_valid(&columns[1], i) || set < 0 ||
            (uint64_t)set >= total)
            mrd__sql_put_null(&out, i);
        else
            find_arg(&r, (uint64_t)set, mrd__duck_text(&columns[1], i), &out, i, info);
    }
    reader_reset(&r);
}

/* The text of a set; false: it has none. */
static bool set_text(const mrd__sql *sql, uint64_t set, mrd__buf *scratch, mrd__str *out,
                     mrd_status *status, mrd_error *error)
{
    const mrd__store *store = sql->store;
    mrd__args_ref ref = 0;
    if (set < store->slices.count)
        ref = store->slices.args[set];
    else if (set >= sql->first_instant && set < sql->first_event_instant)
        ref = store->instants.args[set - sql->first_instant];
    else if (set >= sql->first_event_instant && set < mrd__sql_total(sql))
        return mrd__event_detail(sql->events,
                                 mrd__event_rank(sql->events, set - sql->first_event_instant), out);
    if (ref == 0) return false;
    *status = mrd__store_args(store, ref, scratch, out, error);
    return *status == MRD_OK;
}

static void args_json(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const mrd__duck_api *api = api_of_process;
    const mrd__sql *sql = api->scalar_function_get_extra_info(info);
    duckdb_vector vector = api->data_chunk_get_vector(input, 0);
    mrd__duck_column column = {.data = api->vector_get_data(vector),
                               .validity = api->vector_get_validity(vector)};
    mrd__sql_out out = {.api = api, .vector = output, .data = api->vector_get_data(output)};
    mrd__buf scratch = {0};
    mrd__buf json = {0};
    mrd_error error = {0};
    mrd_status status = MRD_OK;
    size_t rows = api->data_chunk_get_size(input);
    for (size_t i = 0; i < rows; i++) {
        int64_t set = ((const int64_t *)column.data)[i];
        mrd__str text;
        mrd__buf_clear(&json);
        if (mrd__duck_valid(&column, i) && set >= 0 &&
            set_text(sql, (uint64_t)set, &scratch, &text, &status, &error)) {
            mrd__args_compact(&json, text);
            mrd__sql_put_copy(&out, i, (mrd__str){json.data, json.size});
        } else {
            mrd__sql_put_null(&out, i);
        }
    }
    if (status != MRD_OK) api->scalar_function_set_error(info, error.message);
    mrd__buf_reset(&scratch);
    mrd__buf_reset(&json);
}

static bool add_scalar(mrd__sql *sql, duckdb_connection connection, const char *name, bool key,
                       duckdb_scalar_function_t body)
{
    const mrd__duck_api *api = sql->api;
    duckdb_logical_type number = api->create_logical_type(DUCKDB_TYPE_BIGINT);
    duckdb_logical_type text = api->create_logical_type(DUCKDB_TYPE_VARCHAR);
    duckdb_scalar_function function = api->create_scalar_function();
    api->scalar_function_set_name(function, name);
    api->scalar_function_add_parameter(function, number);
    if (key) api->scalar_function_add_parameter(function, text);
    api->scalar_function_set_return_type(function, text);
    api->scalar_function_set_special_handling(function);
    api->scalar_function_set_extra_info(function, sql, NULL);
    api->scalar_function_set_function(function, body);
    duckdb_state state = api->register_scalar_function(connection, function);
    api->destroy_scalar_function(&function);
    api->destroy_logical_type(&number);
    api->destroy_logical_type(&text);
    return state == DuckDBSuccess;
}

bool mrd__sql_add_args(mrd__sql *sql, duckdb_connection connection)
{
    const mrd__duck_api *api = sql->api;
    /* The same for all databases: written once, so that running scans of others may read it. */
    if (__atomic_load_n(&api_of_process, __ATOMIC_ACQUIRE) != api)
        __atomic_store_n(&api_of_process, api, __ATOMIC_RELEASE);
    duckdb_logical_type number = api->create_logical_type(DUCKDB_TYPE_BIGINT);
    duckdb_table_function function = api->create_table_function();
    api->table_function_set_name(function, "args");
    api->table_function_set_extra_info(function, sql, NULL);
    api->table_function_add_named_parameter(function, "arg_set_id", number);
    api->table_function_supports_projection_pushdown(function, true);
    api->table_function_set_bind(function, bind);
    api->table_function_set_init(function, init);
    api->table_function_set_local_init(function, local_init);
    api->table_function_set_function(function, next_chunk);
    duckdb_state state = api->register_table_function(connection, function);
    api->destroy_table_function(&function);
    api->destroy_logical_type(&number);
    return state == DuckDBSuccess && add_scalar(sql, connection, "mrd_arg", true, arg_function) &&
           add_scalar(sql, connection, "args_json", false, args_json);
}
