/* Event traces: what begins like Parquet goes through the whole reader; anything else is taken for
 * the decoded rows of a file, in chunks of any types, which reach every check behind the decoder.
 * What is accepted must come out as it went in, grouped, paired, and windows over it must agree
 * with each other. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "events/columns.h"
#include "events/take.h"
#include "ingest/event_parquet/collect.h"
#include "pairing/event_pairs.h"
#include "query/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    MAX_ROWS = 4096,
    MAX_TEXT = 24
};

static void demand(bool ok)
{
    if (!ok) abort();
}

/* ---- Bytes of the input ---- */

typedef struct input {
    const uint8_t *data;
    size_t size, at;
} input;

static uint8_t next_byte(input *in)
{
    return in->at < in->size ? in->data[in->at++] : 0;
}

static uint64_t next_word(input *in)
{
    uint64_t word = 0;
    for (int i = 0; i < 8; i++)
        word = word << 8 | next_byte(in);
    return word;
}

/* Mostly small numbers with ties; sometimes any bits. */
static double next_number(input *in)
{
    uint8_t kind = next_byte(in);
    if (kind < 200) return (double)(kind % 50) / 4;
    uint64_t bits = next_word(in);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- Decoded rows ---- */

typedef struct row {
    double time, value;
    int category; /* -1: not one of the six */
    char component[MAX_TEXT + 1], detail[MAX_TEXT + 1];
    uint8_t component_size, detail_size;
    bool null_time, null_component, null_detail;
} row;

typedef struct made {
    row rows[MAX_ROWS];
    size_t count;
    uint8_t time_type, value_type, text_type; /* mrd__duck_type */
    bool good;                                /* no row that must be refused */
} made;

static void read_text(input *in, char *out, uint8_t *size)
{
    *size = next_byte(in) % (MAX_TEXT + 1);
    for (uint8_t i = 0; i < *size; i++)
        out[i] = (char)next_byte(in);
    out[*size] = '\0';
}

static double as_type(double number, uint8_t type)
{
    if (type == MRD__DUCK_FLOAT) return (double)(float)number;
    bool small = fabs(number) < 1e15;
    if (type == MRD__DUCK_INT64) return small ? trunc(number) + 0.0 : 5; /* no -0 */
    if (type == MRD__DUCK_UINT64) return small ? fabs(trunc(number)) : 5;
    return number;
}

static void read_row(input *in, made *m, row *r)
{
    uint8_t flags = next_byte(in);
    r->time = as_type(next_number(in), m->time_type);
    r->value = as_type(next_number(in), m->value_type);
    r->category = (int)(next_byte(in) % 7);
    if (r->category == 6) r->category = flags == 77 ? -1 : 0;
    if (flags & 1) { /* a few names, most of the time */
        r->component_size =
            (uint8_t)snprintf(r->component, MAX_TEXT, "link_%u_component", flags >> 6);
    } else {
        read_text(in, r->component, &r->component_size);
    }
    read_text(in, r->detail, &r->detail_size);
    r->null_detail = flags & 2;
    r->null_time = flags == 0xf0;
    r->null_component = flags == 0xf4;
    mrd__str component = {r->component, r->component_size}, detail = {r->detail, r->detail_size};
    bool in_range = r->time >= -MRD__EVENT_TIME_LIMIT && r->time < MRD__EVENT_TIME_LIMIT;
    bool good = in_range && !isnan(r->value) && r->category >= 0 && !r->null_time &&
                !r->null_component && mrd__utf8_valid(component);
    if (!r->null_detail && !mrd__utf8_valid(detail)) {
        /* DuckDB gives no such text: only a BLOB may hold it. */
        if (m->text_type == MRD__DUCK_TEXT)
            r->null_detail = true;
        else
            good = false;
    }
    m->good = m->good && good;
}

static made *read_rows(input *in)
{
    static const uint8_t numbers[] = {MRD__DUCK_DOUBLE, MRD__DUCK_FLOAT, MRD__DUCK_INT64,
                                      MRD__DUCK_UINT64};
    made *m = mrd__new(made);
    m->good = true;
    uint8_t types = next_byte(in);
    m->time_type = numbers[types & 3];
    m->value_type = numbers[types >> 2 & 3];
    m->text_type = types & 16 ? MRD__DUCK_BLOB : MRD__DUCK_TEXT;
    while (in->at < in->size && m->count < MAX_ROWS)
        read_row(in, m, &m->rows[m->count++]);
    return m;
}

/* ---- Chunks as DuckDB gives them ---- */

typedef struct chunk_memory {
    int64_t row[MRD__DUCK_BATCH];
    uint64_t time[MRD__DUCK_BATCH], value[MRD__DUCK_BATCH];
    mrd__duck_string category[MRD__DUCK_BATCH], component[MRD__DUCK_BATCH], detail[MRD__DUCK_BATCH];
    uint64_t time_valid[MRD__DUCK_BATCH / 64], component_valid[MRD__DUCK_BATCH / 64],
        detail_valid[MRD__DUCK_BATCH / 64];
} chunk_memory;

static uint64_t bits_of(double number, uint8_t type)
{
    uint64_t bits = 0;
    float narrow = (float)number;
    if (type == MRD__DUCK_DOUBLE) memcpy(&bits, &number, sizeof bits);
    if (type == MRD__DUCK_FLOAT) memcpy(&bits, &narrow, sizeof narrow);
    if (type == MRD__DUCK_INT64) bits = (uint64_t)(int64_t)number;
    if (type == MRD__DUCK_UINT64) bits = (uint64_t)number;
    return bits;
}

static void put_number(uint64_t *column, size_t at, double number, uint8_t type)
{
    uint64_t bits = bits_of(number, type);
    if (type == MRD__DUCK_FLOAT)
        memcpy((char *)column + at * sizeof(float), &bits, sizeof(float));
    else
        column[at] = bits;
}

static mrd__duck_string string_of(const char *text, size_t size)
{
    mrd__duck_string out;
    memset(&out, 0, sizeof out);
    out.size = (uint32_t)size;
    if (size <= 12) {
        memcpy((char *)&out + sizeof out.size, text, size);
    } else {
        memcpy(out.inlined, text, sizeof out.inlined);
        out.data = text;
    }
    return out;
}

static void fill_chunk(const made *m, size_t first, size_t count, chunk_memory *c,
                       mrd__duck_chunk *chunk)
{
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < count; i++) {
        const row *r = &m->rows[first + i];
        const char *name = r->category < 0 ? "link_off" : mrd__category_name(r->category);
        c->row[i] = (int64_t)(first + i);
        put_number(c->time, i, r->time, m->time_type);
        put_number(c->value, i, r->value, m->value_type);
        c->category[i] = string_of(name, strlen(name));
        c->component[i] = string_of(r->component, r->component_size);
        c->detail[i] = string_of(r->detail, r->detail_size);
        c->time_valid[i / 64] |= (uint64_t)!r->null_time << (i % 64);
        c->component_valid[i / 64] |= (uint64_t)!r->null_component << (i % 64);
        c->detail_valid[i / 64] |= (uint64_t)!r->null_detail << (i % 64);
    }
    chunk->rows = count;
    mrd__duck_column *columns = chunk->columns;
    columns[MRD__COL_ROW] = (mrd__duck_column){MRD__DUCK_INT64, c->row, NULL};
    columns[MRD__COL_TIME] = (mrd__duck_column){m->time_type, c->time, c->time_valid};
    columns[MRD__COL_CATEGORY] = (mrd__duck_column){MRD__DUCK_TEXT, c->category, NULL};
    columns[MRD__COL_COMPONENT] =
        (mrd__duck_column){m->text_type, c->component, c->component_valid};
    columns[MRD__COL_VALUE] = (mrd__duck_column){m->value_type, c->value, NULL};
    columns[MRD__COL_DETAIL] = (mrd__duck_column){m->text_type, c->detail, c->detail_valid};
}

/* ---- What must hold ---- */

/* The file's doubles are kept bit for bit: -0 is not 0, and a NaN equals itself. */
static bool same_bits(double a, double b)
{
    uint64_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return x == y;
}

static void check_event(const mrd__events *events, const mrd__event_key *key, uint64_t at,
                        const row *r)
{
    demand(same_bits(events->time[at], r->time));
    demand(same_bits(events->value[at], r->value));
    demand(mrd__event_category(events, key, at) == r->category);
    demand(mrd__str_equal(events->components[key->component],
                          (mrd__str){r->component, r->component_size}));
    mrd__str detail;
    bool has = mrd__event_detail(events, mrd__event_rank(events, at), &detail);
    demand(has == !r->null_detail);
    if (has) demand(mrd__str_equal(detail, (mrd__str){r->detail, r->detail_size}));
}

/* Row of each rank: a straight insertion by time, stable. */
static uint32_t *straight_order(const made *m)
{
    uint32_t *order = mrd__new_array(uint32_t, m->count + 1);
    for (size_t i = 0; i < m->count; i++) {
        size_t at = i;
        for (; at > 0 && m->rows[order[at - 1]].time > m->rows[i].time; at--)
            order[at] = order[at - 1];
        order[at] = (uint32_t)i;
    }
    return order;
}

static void check_grouping(const mrd__events *events, const made *m)
{
    uint32_t *order = straight_order(m);
    uint64_t seen = 0;
    demand(events->count == m->count);
    for (size_t k = 0; k < events->key_count; k++) {
        const mrd__event_key *key = &events->keys[k];
        demand(key->first == seen && key->count > 0);
        for (uint64_t at = key->first; at < key->first + key->count; at++) {
            uint32_t rank = mrd__event_rank(events, at);
            demand(rank < m->count);
            demand(at == key->first || rank > mrd__event_rank(events, at - 1));
            check_event(events, key, at, &m->rows[order[rank]]);
        }
        seen += key->count;
    }
    demand(seen == events->count);
    mrd__free(order);
}

static size_t count_lines(const mrd__buf *text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text->size; i++)
        lines += text->data[i] == '\n';
    return lines;
}

static mrd_status ask(const mrd__events *events, const char *query, mrd__buf *out)
{
    mrd__store store = {.events = (mrd__events *)(uintptr_t)events};
    mrd_params *params = mrd_params_create();
    mrd_sink sink = mrd__buf_sink(out);
    mrd_status status = mrd_params_add_query(params, query, strlen(query), NULL);
    if (status == MRD_OK)
        status = mrd__query_event_window(&store, params, MRD_FORMAT_CSV, &sink, NULL);
    mrd_params_destroy(&params);
    return status;
}

/* Field of a CSV line counted from its end, as a number. */
static uint64_t field_from_end(const char *line, const char *end, int field)
{
    for (; field > 0; end--)
        field -= end[-1] == ',';
    const char *start = end;
    while (start > line && start[-1] != ',')
        start--;
    uint64_t number = 0;
    demand(mrd__parse_uint64((mrd__str){start, (size_t)(end - start)}, &number));
    return number;
}

/* The events of all buckets are the raw rows. Names with line breaks or NULs would take
 * counting apart. */
static void check_windows(const mrd__events *events, input *in)
{
    char window[128], query[160];
    double start = next_number(in), width = fabs(next_number(in));
    snprintf(window, sizeof window, "start_ns=%.17g&end_ns=%.17g", start, start + width);
    snprintf(query, sizeof query, "%s&buckets=%u", window, 1u + next_byte(in));
    for (size_t i = 0; i < events->component_count; i++) {
        mrd__str name = events->components[i];
        if (memchr(name.data, '\n', name.size) || memchr(name.data, 0, name.size)) return;
    }
    mrd__buf raw = {0}, cells = {0};
    if (!events->detail_first && ask(events, window, &raw) == MRD_OK &&
        ask(events, query, &cells) == MRD_OK) {
        uint64_t sum = 0;
        char *line = strchr(cells.data, '\n') + 1;
        for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
            sum += field_from_end(line, end, 2);
        demand(sum == count_lines(&raw) - 1);
    }
    mrd__buf_reset(&raw);
    mrd__buf_reset(&cells);
}

/* ---- Both doors ---- */

typedef struct reading {
    mrd__collect collect;
} reading;

static mrd_status begin(void *ctx, uint64_t rows, mrd_error *error)
{
    /* A file of a few kilobytes does not get to fill the memory. */
    if (rows > 1000000) return mrd__fail(error, MRD_ERR_LIMIT, "fuzz", "too many rows");
    return mrd__collect_begin(&((reading *)ctx)->collect, rows, error);
}

static void add_batch(void *ctx, const mrd__event_batch *batch)
{
    mrd__collect_add(&((reading *)ctx)->collect, batch);
}

static mrd__events *group(reading *r, mrd__event_info *info)
{
    double last_ns = 0;
    mrd__events *events = mrd__collect_group(&r->collect, info, 2, &last_ns);
    events->end_ns = events->count ? last_ns : 1;
    mrd__events_pair(events, 2);
    return events;
}

static void fuzz_file(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", 0);
    demand(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    reading *r = mrd__new(reading);
    mrd__event_sink sink = {.ctx = r, .begin = begin, .batch = add_batch};
    mrd__event_info info;
    mrd_error error = {0};
    mrd_status status = mrd__event_read(path, 2, &sink, &info, &error);
    if (status == MRD_OK) {
        mrd__events *events = group(r, &info);
        mrd__events_destroy(&events);
        mrd__event_info_reset(&info);
    } else {
        demand(error.status == status && error.code[0] && error.message[0]);
    }
    mrd__collect_reset(&r->collect);
    mrd__free(r);
    close(fd);
}

static void fuzz_rows(input *in)
{
    made *m = read_rows(in);
    reading *r = mrd__new(reading);
    mrd__event_sink sink = {.ctx = r, .begin = begin, .batch = add_batch};
    demand(begin(r, m->count, NULL) == MRD_OK);
    mrd__take take;
    mrd__take_init(&take, &sink, m->count);
    chunk_memory *memory = mrd__new(chunk_memory);
    for (size_t first = 0; first < m->count; first += MRD__DUCK_BATCH) {
        mrd__duck_chunk chunk = {0};
        size_t left = m->count - first;
        fill_chunk(m, first, left < MRD__DUCK_BATCH ? left : MRD__DUCK_BATCH, memory, &chunk);
        mrd__take_chunk(&take, &chunk);
    }
    demand((take.error_row == UINT64_MAX) == m->good);
    if (m->good) {
        mrd__event_info info = {.components = take.components,
                                .component_count = take.component_count};
        take.components = NULL;
        take.component_count = 0;
        mrd__events *events = group(r, &info);
        check_grouping(events, m);
        in->at = 1;
        check_windows(events, in);
        mrd__events_destroy(&events);
        mrd__event_info_reset(&info);
    }
    mrd__take_reset(&take);
    mrd__collect_reset(&r->collect);
    mrd__free(memory);
    mrd__free(r);
    mrd__free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, size, 0};
    if (size > 4 && memcmp(data, "PAR1", 4) == 0)
        fuzz_file(data, size);
    else
        fuzz_rows(&in);
    return 0;
}
