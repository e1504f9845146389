/* Raw rows of a window (schema R). Keys are sorted each by itself; rows of several keys come into
 * file order by their rank. */
#include "query/event_window.h"

#include "base/assert.h"
#include "base/os.h"
#include "query/event_scratch.h"
#include "query/event_search.h"

#include <string.h>

#define MAX_DETAIL_BYTES (INT32_C(1) << 30) /* of one batch: offsets are int32 */

typedef struct raw_row {
    uint32_t rank;
    uint32_t choice;
    uint64_t index;
} raw_row;

static uint64_t rows_of(const mrd__event_window *window, const mrd__event_choice *choice)
{
    uint64_t all = choice->high - choice->low;
    if (choice->opener && choice->closer) return all;
    uint32_t closers = mrd__event_closers(window->events, choice->key, choice->high) -
                       mrd__event_closers(window->events, choice->key, choice->low);
    return choice->closer ? closers : all - closers;
}

static mrd_status count_rows(const mrd__event_window *window, size_t *out, mrd_error *error)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < window->choices.count; i++)
        rows += rows_of(window, &window->choices.data[i]);
    *out = (size_t)rows;
    if (rows <= MRD__MAX_WINDOW_ROWS) return MRD_OK;
    mrd__fail(error, MRD_ERR_ARGUMENT, "too_many_rows",
              "the window holds %llu rows; at most %d are sent raw, ask with buckets=%d",
              (unsigned long long)rows, MRD__MAX_WINDOW_ROWS, MRD__SUGGESTED_BUCKETS);
    if (error) {
        error->rows = rows;
        error->limit = MRD__MAX_WINDOW_ROWS;
    }
    return MRD_ERR_ARGUMENT;
}

static size_t collect_rows(const mrd__event_window *window, raw_row *rows)
{
    const mrd__events *events = window->events;
    size_t count = 0;
    for (size_t i = 0; i < window->choices.count; i++) {
        const mrd__event_choice *choice = &window->choices.data[i];
        uint64_t first = events->keys[choice->key].first;
        for (uint64_t at = first + choice->low; at < first + choice->high; at++) {
            bool closer = events->rank[at] & MRD__EVENT_CLOSER;
            if (closer ? !choice->closer : !choice->opener) continue;
            rows[count++] = (raw_row){events->rank[at] & ~MRD__EVENT_CLOSER, (uint32_t)i, at};
        }
    }
    return count;
}

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

/* Sort by rank; other is scratch of the same size. Returns the one that holds the result. */
static raw_row *sort_rows(raw_row *rows, raw_row *other, size_t count)
{
    uint32_t least = UINT32_MAX, greatest = 0;
    for (size_t i = 0; i < count; i++) {
        least = rows[i].rank < least ? rows[i].rank : least;
        greatest = rows[i].rank > greatest ? rows[i].rank : greatest;
    }
    for (unsigned shift = 0; count && shift < 32 && (greatest - least) >> shift;
         shift += DIGIT_BITS) {
        uint32_t starts[DIGITS + 1] = {0};
        for (size_t i = 0; i < count; i++)
            starts[((rows[i].rank - least) >> shift & (DIGITS - 1)) + 1]++;
        for (uint32_t digit = 0; digit < DIGITS; digit++)
            starts[digit + 1] += starts[digit];
        for (size_t i = 0; i < count; i++)
            other[starts[(rows[i].rank - least) >> shift & (DIGITS - 1)]++] = rows[i];
        raw_row *swap = rows;
        rows = other;
        other = swap;
    }
    return rows;
}

/* Columns of one batch, of memory kept between answers. */
typedef struct raw_batch {
    const mrd__event_window *window;
    const int32_t *codes; /* by choice */
    const raw_row *rows;
    size_t count;
    double *time, *value;
    int8_t *category;
    int32_t *component, *offsets;
    uint8_t *valid;
    char *details;
    mrd__scratch memory, texts;
} raw_batch;

static void batch_init(raw_batch *batch, const mrd__event_window *window, const int32_t *codes,
                       size_t count)
{
    size_t rows = count < MRD__ARROW_BATCH_ROWS ? count : MRD__ARROW_BATCH_ROWS;
    *batch = (raw_batch){.window = window, .codes = codes};
    batch->memory = mrd__scratch_take(2 * mrd__scratch_rounded(rows * sizeof(double)) +
                                      mrd__scratch_rounded(rows) +
                                      2 * mrd__scratch_rounded((rows + 1) * sizeof(int32_t)) +
                                      mrd__scratch_rounded(rows / 8 + 1));
    batch->time = mrd__scratch_cut(&batch->memory, rows * sizeof(double));
    batch->value = mrd__scratch_cut(&batch->memory, rows * sizeof(double));
    batch->category = mrd__scratch_cut(&batch->memory, rows);
    batch->component = mrd__scratch_cut(&batch->memory, (rows + 1) * sizeof(int32_t));
    batch->offsets = mrd__scratch_cut(&batch->memory, (rows + 1) * sizeof(int32_t));
    batch->valid = mrd__scratch_cut(&batch->memory, rows / 8 + 1);
}

static void batch_reset(raw_batch *batch)
{
    mrd__scratch_give(&batch->memory);
    mrd__scratch_give(&batch->texts);
}

/* Takes the rows from `rows` on that fit one batch, and says where each detail will lie. */
static void place_details(raw_batch *batch, const raw_row *rows, size_t count)
{
    const mrd__events *events = batch->window->events;
    if (count > MRD__ARROW_BATCH_ROWS) count = MRD__ARROW_BATCH_ROWS;
    memset(batch->valid, 0, (count + 7) / 8);
    batch->offsets[0] = 0;
    size_t bytes = 0, i = 0;
    for (; i < count; i++) {
        mrd__str detail;
        bool valid = mrd__event_detail(events, rows[i].rank, &detail);
        if (i > 0 && bytes + detail.size > MAX_DETAIL_BYTES) break;
        batch->valid[i / 8] |= (uint8_t)(valid << (i % 8));
        bytes += detail.size;
        batch->offsets[i + 1] = (int32_t)bytes;
    }
    batch->rows = rows;
    batch->count = i;
    if (bytes > batch->texts.size) {
        mrd__scratch_give(&batch->texts);
        batch->texts = mrd__scratch_take(bytes);
    }
    batch->details = batch->texts.data;
}

#define PART_ROWS 8192 /* rows one task fills */

static void fill_part(void *ctx, size_t part, uint32_t worker)
{
    (void)worker;
    raw_batch *batch = ctx;
    const mrd__events *events = batch->window->events;
    size_t end = (part + 1) * PART_ROWS < batch->count ? (part + 1) * PART_ROWS : batch->count;
    for (size_t i = part * PART_ROWS; i < end; i++) {
        const raw_row *row = &batch->rows[i];
        const mrd__event_key *key = &events->keys[batch->window->choices.data[row->choice].key];
        mrd__str detail;
        /* A batch of empty details has no memory for them. */
        if (mrd__event_detail(events, row->rank, &detail) && detail.size > 0)
            memcpy(batch->details + batch->offsets[i], detail.data, detail.size);
        batch->time[i] = events->time[row->index];
        batch->value[i] = events->value[row->index];
        batch->category[i] = (int8_t)mrd__event_category(events, key, row->index);
        batch->component[i] = batch->codes[row->choice];
    }
}

static void fill_batch(raw_batch *batch, const raw_row *rows, size_t count)
{
    place_details(batch, rows, count);
    uint32_t workers = batch->count > 2 * PART_ROWS ? mrd__cores() : 1;
    mrd__parallel_for(workers, (batch->count + PART_ROWS - 1) / PART_ROWS, fill_part, batch);
}

static mrd_status write_rows(const mrd__event_window *window, mrd__table *table,
                             const int32_t *codes, const raw_row *rows, size_t count,
                             mrd_error *error)
{
    raw_batch batch;
    batch_init(&batch, window, codes, count);
    mrd_status status = MRD_OK;
    for (size_t at = 0; status == MRD_OK && at < count;) {
        fill_batch(&batch, rows + at, count - at);
        mrd__arrow_column columns[] = {
            {.data = batch.time},
            {.data = batch.category},
            {.data = batch.component},
            {.data = batch.value},
            {.validity = batch.valid,
             .offsets = batch.offsets,
             .bytes = batch.details ? batch.details : ""},
        };
        status = mrd__table_rows(table, columns, batch.count, error);
        at += batch.count;
    }
    batch_reset(&batch);
    return status;
}

static mrd_status answer(const mrd__event_window *window, mrd__table *table, const raw_row *rows,
                         size_t count, mrd_error *error)
{
    mrd__event_names names = {.events = window->events};
    int32_t *codes = mrd__new_array(int32_t, window->choices.count + 1);
    for (size_t i = 0; i < window->choices.count; i++) {
        const mrd__event_choice *choice = &window->choices.data[i];
        if (rows_of(window, choice) == 0) continue;
        codes[i] = mrd__event_names_add(&names, window->events->keys[choice->key].component);
    }
    mrd__arrow_dict categories = mrd__event_categories_dict(window->events);
    mrd__arrow_dict components = mrd__event_names_dict(&names);
    mrd_status status = mrd__table_dictionary(table, 1, &categories, error);
    if (status == MRD_OK) status = mrd__table_dictionary(table, 2, &components, error);
    if (status == MRD_OK) status = write_rows(window, table, codes, rows, count, error);
    if (status == MRD_OK) status = mrd__table_finish(table, error);
    mrd__vec_reset(&names.used);
    mrd__free(codes);
    return status;
}

mrd_status mrd__event_window_raw(const mrd__event_window *window, const mrd_sink *sink,
                                 mrd_error *error)
{
    static const mrd__arrow_field fields[] = {
        {"time_ns", MRD__ARROW_FLOAT64, false},  {"category", MRD__ARROW_DICT8, false},
        {"component", MRD__ARROW_DICT32, false}, {"value", MRD__ARROW_FLOAT64, false},
        {"detail_json", MRD__ARROW_UTF8, true},
    };
    size_t count = 0;
    MRD__TRY(count_rows(window, &count, error));
    mrd__scratch memory = mrd__scratch_take(2 * mrd__scratch_rounded(count * sizeof(raw_row)));
    raw_row *rows = mrd__scratch_cut(&memory, count * sizeof *rows);
    raw_row *other = mrd__scratch_cut(&memory, count * sizeof *other);
    size_t got = collect_rows(window, rows);
    mrd__assert(got == count);
    mrd__table table;
    mrd__event_window_table(window, &table, fields, sizeof fields / sizeof *fields, sink);
    mrd_status status = answer(window, &table, sort_rows(rows, other, count), count, error);
    mrd__table_reset(&table);
    mrd__scratch_give(&memory);
    return status;
}
