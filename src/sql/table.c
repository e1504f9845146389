/* The template: bind says the columns, init the pieces, each thread takes morsels of pieces and
 * fills chunks from them.
 *
 *   pieces    [ row 0          ][ row 1 ][r][ row 3                  ]
 *   morsels   |    0    |     1     |       2         |     3        |
 *   chunks    | | | |   | | | ...   (2,048 rows each, over piece borders)
 */
#include "sql/table.h"

#include "base/alloc.h"
#include "base/assert.h"

#define MAX_WIDTH 64 /* of a table, with room for row ids */

/* ---- Cells ---- */

void mrd__sql_put_null(mrd__sql_out *out, size_t i)
{
    out->api->vector_ensure_validity_writable(out->vector);
    size_t row = out->at + i;
    out->api->vector_get_validity(out->vector)[row >> 6] &= ~(UINT64_C(1) << (row & 63));
}

void mrd__sql_put_text(mrd__sql_out *out, size_t i, mrd__str text)
{
    mrd__duck_out borrowed = {.data = out->data, .vector = out->vector, .api = out->api};
    mrd__duck_out_borrowed(&borrowed, out->at + i, text);
}

void mrd__sql_put_copy(mrd__sql_out *out, size_t i, mrd__str text)
{
    out->api->vector_assign_string_element_len(out->vector, out->at + i, text.data, text.size);
}

void mrd__sql_put_string(mrd__sql_out *out, size_t i, const mrd__store *store, mrd__str_id id)
{
    if (id == 0)
        mrd__sql_put_null(out, i);
    else
        mrd__sql_put_text(out, i, mrd__store_str(store, id));
}

void mrd__sql_put_index(mrd__sql_out *out, size_t i, uint32_t index)
{
    if (index == MRD__NONE)
        mrd__sql_put_null(out, i);
    else
        mrd__sql_put_int(out, i, index);
}

void mrd__sql_put_ident(mrd__sql_out *out, size_t i, mrd__ident ident)
{
    if (ident.kind == MRD__IDENT_NUMBER)
        mrd__sql_put_int(out, i, ident.number);
    else
        mrd__sql_put_null(out, i);
}

static void put_code(mrd__sql_out *out, size_t i, uint8_t width, uint32_t code)
{
    size_t at = out->at + i;
    if (width == 1)
        ((uint8_t *)out->data)[at] = (uint8_t)code;
    else if (width == 2)
        ((uint16_t *)out->data)[at] = (uint16_t)code;
    else
        ((uint32_t *)out->data)[at] = code;
}

void mrd__sql_put_words(mrd__sql_out *out, const mrd__store *store, const mrd__sql_words *words,
                        const mrd__str_id *ids, size_t rows)
{
    bool nulls = false;
    if (words->width == 0) {
        for (size_t i = 0; i < rows; i++)
            mrd__sql_put_string(out, i, store, ids[i]);
        return;
    }
    if (words->width == 2) {
        uint16_t *data = (uint16_t *)out->data + out->at;
        for (size_t i = 0; i < rows; i++) {
            data[i] = (uint16_t)words->codes[ids[i]];
            nulls |= ids[i] == 0;
        }
    } else {
        for (size_t i = 0; i < rows; i++) {
            put_code(out, i, words->width, words->codes[ids[i]]);
            nulls |= ids[i] == 0;
        }
    }
    for (size_t i = 0; nulls && i < rows; i++) {
        if (ids[i] == 0) mrd__sql_put_null(out, i);
    }
}

void mrd__sql_put_category(mrd__sql_out *out, const mrd__sql *sql, const mrd__sql_words *words,
                           uint8_t category, size_t rows)
{
    mrd__str text = mrd__str_of(sql->events->category_names[category]);
    for (size_t i = 0; i < rows; i++) {
        if (words->width > 0)
            put_code(out, i, words->width, words->event_codes[category]);
        else
            mrd__sql_put_text(out, i, text);
    }
}

void mrd__sql_put_nulls(mrd__sql_out *out, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        mrd__sql_put_null(out, i);
}

void mrd__sql_put_number(mrd__sql_out *out, size_t rows, int64_t value)
{
    for (size_t i = 0; i < rows; i++)
        mrd__sql_put_int(out, i, value);
}

void mrd__sql_put_tracks(mrd__sql_out *out, const mrd__store *store, const uint32_t *tracks,
                         size_t track_count, uint64_t first, size_t rows)
{
    size_t low = 0;
    size_t high = track_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (store->tracks[tracks[middle]].first <= first)
            low = middle;
        else
            high = middle;
    }
    for (size_t i = 0; i < rows; i++) {
        while (low + 1 < track_count && store->tracks[tracks[low + 1]].first <= first + i)
            low++;
        mrd__sql_put_int(out, i, tracks[low]);
    }
}

/* ---- Pieces ---- */

void mrd__sql_add_piece(mrd__sql_pieces *out, uint32_t kind, uint32_t row, uint64_t first,
                        uint64_t end)
{
    mrd__sql_piece piece = {kind, row, first, end};
    if (first < end) mrd__vec_push(out, piece);
}

static uint64_t lower(const double *times, uint64_t first, uint64_t end, double time)
{
    while (first < end) {
        uint64_t middle = first + (end - first) / 2;
        if (times[middle] < time)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

void mrd__sql_add_points(mrd__sql_pieces *out, uint32_t kind, uint32_t row, const double *times,
                         uint64_t first, uint64_t end, int64_t origin, const mrd__sql_range *range)
{
    if (range->has_start)
        first = lower(times, first, end, mrd__sql_relative(origin, range->start_ns));
    if (range->has_end) end = lower(times, first, end, mrd__sql_relative(origin, range->end_ns));
    mrd__sql_add_piece(out, kind, row, first, end);
}

/* ---- The table function ---- */

/* What a registered function carries. */
typedef struct bound_table {
    mrd__sql *sql;
    const mrd__sql_table *table;
} bound_table;

/* Set once, before any callback can run. */
static const mrd__duck_api *api_of_process;

static duckdb_type plain_type(mrd__sql_type type)
{
    switch (type) {
    case MRD__SQL_INT:
        return DUCKDB_TYPE_BIGINT;
    case MRD__SQL_REAL:
        return DUCKDB_TYPE_DOUBLE;
    case MRD__SQL_BOOL:
        return DUCKDB_TYPE_BOOLEAN;
    default:
        return DUCKDB_TYPE_VARCHAR;
    }
}

static void add_columns(const mrd__sql *sql, const mrd__sql_table *table, duckdb_bind_info info)
{
    const mrd__duck_api *api = sql->api;
    for (size_t i = 0; i < table->width; i++) {
        const mrd__sql_column *column = &table->columns[i];
        if (column->type == MRD__SQL_NAME) {
            api->bind_add_result_column(info, column->name, sql->names.type);
        } else if (column->type == MRD__SQL_CATEGORY) {
            api->bind_add_result_column(info, column->name, sql->categories.type);
        } else {
            duckdb_logical_type type = api->create_logical_type(plain_type(column->type));
            api->bind_add_result_column(info, column->name, type);
            api->destroy_logical_type(&type);
        }
    }
}

static bool named_int(const mrd__duck_api *api, duckdb_bind_info info, const char *name,
                      int64_t *out)
{
    duckdb_value value = api->bind_get_named_parameter(info, name);
    bool given = value != NULL && !api->is_null_value(value);
    if (given) *out = api->get_int64(value);
    if (value != NULL) api->destroy_value(&value);
    return given;
}

static uint64_t rows_of(const mrd__sql_pieces *pieces)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < pieces->count; i++)
        rows += pieces->data[i].end - pieces->data[i].first;
    return rows;
}

/* Owned by DuckDB from bind on. */
typedef struct binding {
    mrd__sql_pieces pieces;
    uint64_t rows;
} binding;

static void free_binding(void *data)
{
    binding *bound = data;
    mrd__vec_reset(&bound->pieces);
    mrd__free(bound);
}

static void bind(duckdb_bind_info info)
{
    const mrd__duck_api *api = api_of_process;
    const bound_table *self = api->bind_get_extra_info(info);
    const mrd__sql_table *table = self->table;
    mrd__sql_range range = {0};
    binding *bound = mrd__new(binding);
    add_columns(self->sql, table, info);
    if (table->ranged) {
        range.has_start = named_int(api, info, "start_ns", &range.start_ns);
        range.has_end = named_int(api, info, "end_ns", &range.end_ns);
        range.has_track = named_int(api, info, "track", &range.track);
    }
    if (table->cell != NULL) {
        mrd__sql_piece all = {.end = table->count(self->sql)};
        if (all.end > 0) mrd__vec_push(&bound->pieces, all);
    } else {
        table->pieces(self->sql, &range, &bound->pieces);
    }
    bound->rows = rows_of(&bound->pieces);
    api->bind_set_cardinality(info, bound->rows, true);
    api->bind_set_bind_data(info, bound, free_binding);
}

/* Shared by the threads of one scan. */
typedef struct scan {
    pthread_mutex_t lock;
    const mrd__sql_piece *pieces; /* the binding's */
    size_t count, piece;
    uint64_t at; /* rows of pieces[piece] given away */
    size_t width;
    idx_t *columns;
} scan;

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
    const binding *bound = api->init_get_bind_data(info);
    scan *s = mrd__new(scan);
    pthread_mutex_init(&s->lock, NULL);
    s->pieces = bound->pieces.data;
    s->count = bound->pieces.count;
    s->width = api->init_get_column_count(info);
    mrd__assert(s->width <= MAX_WIDTH);
    s->columns = mrd__new_array(idx_t, s->width + 1);
    for (size_t i = 0; i < s->width; i++)
        s->columns[i] = api->init_get_column_index(info, i);
    api->init_set_max_threads(info, 1 + bound->rows / MRD__SQL_MORSEL);
    api->init_set_init_data(info, s, free_scan);
}

/* What one thread has taken and not yet filled. */
typedef struct morsel {
    mrd__sql_pieces pieces;
    size_t next;
} morsel;

static void free_morsel(void *data)
{
    morsel *m = data;
    mrd__vec_reset(&m->pieces);
    mrd__free(m);
}

static void local_init(duckdb_init_info info)
{
    api_of_process->init_set_init_data(info, mrd__new(morsel), free_morsel);
}

static void take_morsel(scan *s, morsel *m)
{
    uint64_t rows = 0;
    m->pieces.count = m->next = 0;
    pthread_mutex_lock(&s->lock);
    while (rows < MRD__SQL_MORSEL && s->piece < s->count) {
        mrd__sql_piece part = s->pieces[s->piece];
        part.first += s->at;
        uint64_t left = MRD__SQL_MORSEL - rows;
        if (part.end - part.first > left) {
            part.end = part.first + left;
            s->at += left;
        } else {
            s->piece++;
            s->at = 0;
        }
        rows += part.end - part.first;
        if (part.end > part.first) mrd__vec_push(&m->pieces, part);
    }
    pthread_mutex_unlock(&s->lock);
}

static void fill_rows(const bound_table *self, const scan *s, const mrd__sql_piece *part,
                      mrd__sql_out *columns, size_t at, size_t rows)
{
    const mrd__sql_table *table = self->table;
    for (size_t c = 0; c < s->width; c++) {
        unsigned column = (unsigned)s->columns[c];
        if (s->columns[c] >= table->width) continue; /* a row id that nobody reads */
        columns[c].at = at;
        if (table->cell == NULL) {
            table->fill(self->sql, part, column, rows, &columns[c]);
            continue;
        }
        for (size_t i = 0; i < rows; i++)
            table->cell(self->sql, part->first + i, column, &columns[c], i);
    }
}

static void next_chunk(duckdb_function_info info, duckdb_data_chunk chunk)
{
    const mrd__duck_api *api = api_of_process;
    const bound_table *self = api->function_get_extra_info(info);
    scan *s = api->function_get_init_data(info);
    morsel *m = api->function_get_local_init_data(info);
    mrd__sql_out columns[MAX_WIDTH];
    for (size_t c = 0; c < s->width; c++) {
        columns[c].api = api;
        columns[c].vector = api->data_chunk_get_vector(chunk, c);
        columns[c].data = api->vector_get_data(columns[c].vector);
    }
    size_t filled = 0;
    while (filled < MRD__DUCK_BATCH) {
        if (m->next == m->pieces.count) {
            if (filled > 0) break;
            take_morsel(s, m);
            if (m->pieces.count == 0) break;
        }
        mrd__sql_piece *part = &m->pieces.data[m->next];
        uint64_t left = part->end - part->first;
        size_t rows = left < MRD__DUCK_BATCH - filled ? (size_t)left : MRD__DUCK_BATCH - filled;
        fill_rows(self, s, part, columns, filled, rows);
        part->first += rows;
        filled += rows;
        if (part->first == part->end) m->next++;
    }
    api->data_chunk_set_size(chunk, filled);
}

bool mrd__sql_add_table(mrd__sql *sql, duckdb_connection connection, const mrd__sql_table *table)
{
    const mrd__duck_api *api = sql->api;
    /* The same for all databases: written once, so that running scans of others may read it. */
    if (__atomic_load_n(&api_of_process, __ATOMIC_ACQUIRE) != api)
        __atomic_store_n(&api_of_process, api, __ATOMIC_RELEASE);
    bound_table *self = mrd__new(bound_table);
    *self = (bound_table){sql, table};
    duckdb_table_function function = api->create_table_function();
    api->table_function_set_name(function, table->name);
    api->table_function_set_extra_info(function, self, mrd__free);
    if (table->ranged) {
        duckdb_logical_type number = api->create_logical_type(DUCKDB_TYPE_BIGINT);
        api->table_function_add_named_parameter(function, "start_ns", number);
        api->table_function_add_named_parameter(function, "end_ns", number);
        api->table_function_add_named_parameter(function, "track", number);
        api->destroy_logical_type(&number);
    }
    api->table_function_supports_projection_pushdown(function, true);
    api->table_function_set_bind(function, bind);
    api->table_function_set_init(function, init);
    api->table_function_set_local_init(function, local_init);
    api->table_function_set_function(function, next_chunk);
    duckdb_state state = api->register_table_function(connection, function);
    api->destroy_table_function(&function);
    return state == DuckDBSuccess;
}
