/* Commands of a simulated run, `…_records.parquet` (spec event-trace section 6), as slices: chip,
 * engine, thread. Commands of one thread may run beside each other (a send waits for its last
 * acknowledgement while the next one runs) but none is part of another: a thread has as many tracks
 * as commands run at once. */
#include "base/error.h"
#include "duck/duck.h"
#include "events/command_file.h"
#include "ingest/table/rows.h"
#include "ingest/table/table.h"

#include <math.h>

#define PROGRESS_ROWS 65536 /* rows between two calls of the progress function */

static const char *const column_types[MRD__COMMAND_COLUMNS] = {
    "BIGINT", "VARCHAR", "BIGINT", "BIGINT", "BIGINT", "VARCHAR",
    "BIGINT", "BIGINT",  "DOUBLE", "DOUBLE", "BIGINT"};

typedef struct lane {
    uint32_t track;
    int64_t end; /* of its last slice */
} lane;

typedef struct reader {
    mrd__table_sink sink;
    mrd__buf text;
    MRD__VEC(lane) lanes; /* of the thread being read */
    mrd__buf engine;      /* whose thread it is */
    int64_t chip, unit, thread;
    uint32_t process;
    bool begun;
} reader;

bool mrd__commands_in_parquet(mrd__str bytes)
{
    return mrd__table_has_column(bytes, "cmd_id") && mrd__table_has_column(bytes, "chip_id") &&
           mrd__table_has_column(bytes, "engine");
}

/* ---- Cells ---- */

static bool whole(const mrd__duck_chunk *chunk, int column, size_t row, int64_t *out)
{
    if (!mrd__duck_valid(&chunk->columns[column], row)) return false;
    *out = ((const int64_t *)chunk->columns[column].data)[row];
    return true;
}

/* A time as a double and as ns, rounded half away from zero. */
static bool time_of(const mrd__duck_chunk *chunk, int column, size_t row, double *exact,
                    int64_t *out)
{
    if (!mrd__duck_valid(&chunk->columns[column], row)) return false;
    *exact = ((const double *)chunk->columns[column].data)[row];
    double ns = round(*exact);
    if (!(ns >= -0x1p63 && ns < 0x1p63)) return false;
    *out = (int64_t)ns;
    return true;
}

static uint64_t args_of(reader *r, const mrd__duck_chunk *chunk, size_t row)
{
    static const int wholes[] = {MRD__COMMAND_CMD,  MRD__COMMAND_UNIT,  MRD__COMMAND_THREAD,
                                 MRD__COMMAND_PEER, MRD__COMMAND_BYTES, MRD__COMMAND_SOURCE};
    int64_t value;
    double ns;
    int64_t unused;
    mrd__buf_clear(&r->text);
    mrd__buf_char(&r->text, '{');
    for (size_t i = 0; i < sizeof wholes / sizeof wholes[0]; i++) {
        if (whole(chunk, wholes[i], row, &value))
            mrd__buf_printf(&r->text, "\"%s\":%lld,", mrd__command_columns[wholes[i]],
                            (long long)value);
    }
    for (int column = MRD__COMMAND_START; column <= MRD__COMMAND_END; column++) {
        if (!time_of(chunk, column, row, &ns, &unused)) continue;
        mrd__buf_printf(&r->text, "%s\"%s\":", column == MRD__COMMAND_END ? "," : "",
                        mrd__command_columns[column]);
        mrd__buf_json_double(&r->text, ns);
    }
    mrd__buf_char(&r->text, '}');
    return mrd__shard_own_args(r->sink.shard, r->text.data, r->text.size);
}

/* ---- Tracks ---- */

static void enter_chip(reader *r, int64_t chip)
{
    mrd__ident pid = {.kind = MRD__IDENT_NUMBER, .number = chip};
    r->process = mrd__shard_thread(r->sink.shard, pid, (mrd__ident){0});
    mrd__buf_clear(&r->text);
    mrd__buf_printf(&r->text, "chip %lld", (long long)chip);
    uint32_t name = mrd__table_string(&r->sink, (mrd__str){r->text.data, r->text.size});
    mrd__fact *fact = mrd__shard_push(r->sink.shard);
    fact->phase = MRD__PROCESS_NAME;
    fact->thread = r->process;
    fact->name = name;
}

/* Rows come sorted by chip, engine, unit and thread. */
static void enter(reader *r, const mrd__duck_chunk *chunk, size_t row)
{
    int64_t chip = 0, unit = 0, thread = 0;
    mrd__str engine = mrd__duck_text(&chunk->columns[MRD__COMMAND_ENGINE], row);
    (void)(whole(chunk, MRD__COMMAND_CHIP, row, &chip) &&
           whole(chunk, MRD__COMMAND_UNIT, row, &unit) &&
           whole(chunk, MRD__COMMAND_THREAD, row, &thread));
    bool new_chip = !r->begun || chip != r->chip;
    if (!new_chip && unit == r->unit && thread == r->thread &&
        mrd__str_equal(engine, (mrd__str){r->engine.data, r->engine.size}))
        return;
    if (new_chip) enter_chip(r, chip);
    mrd__buf_clear(&r->engine);
    mrd__buf_str(&r->engine, engine);
    r->chip = chip;
    r->unit = unit;
    r->thread = thread;
    r->begun = true;
    r->lanes.count = 0;
}

static uint32_t add_track(reader *r)
{
    mrd__buf_clear(&r->text);
    mrd__buf_str(&r->text, (mrd__str){r->engine.data, r->engine.size});
    mrd__buf_printf(&r->text, " %lld thread %lld", (long long)r->unit, (long long)r->thread);
    uint32_t name = mrd__table_string(&r->sink, (mrd__str){r->text.data, r->text.size});
    uint32_t track = mrd__shard_track(r->sink.shard);
    mrd__track_spec *spec = mrd__shard_track_spec(r->sink.shard, track);
    spec->owner = r->process;
    spec->parent = MRD__NONE;
    spec->name = name;
    return track;
}

/* The first track of the thread that is free by then. */
static uint32_t track_at(reader *r, int64_t start, int64_t end)
{
    size_t i = 0;
    while (i < r->lanes.count && r->lanes.data[i].end > start)
        i++;
    if (i == r->lanes.count) {
        lane added = {.track = add_track(r)};
        mrd__vec_push(&r->lanes, added);
    }
    r->lanes.data[i].end = end;
    return r->lanes.data[i].track;
}

/* ---- Rows ---- */

static void add_row(reader *r, const mrd__duck_chunk *chunk, size_t row)
{
    mrd__table_sink *sink = &r->sink;
    double exact[2];
    int64_t start, end;
    if (!time_of(chunk, MRD__COMMAND_START, row, &exact[0], &start) ||
        !time_of(chunk, MRD__COMMAND_END, row, &exact[1], &end)) {
        mrd__table_bad(sink);
        return;
    }
    if (sink->rows > 0 && sink->rows % MRD__TABLE_CHUNK == 0)
        mrd__shard_chunk(sink->shard, sink->rows / MRD__TABLE_CHUNK);
    enter(r, chunk, row);
    uint32_t track = track_at(r, start, end);
    uint32_t name = mrd__table_string(sink, mrd__duck_text(&chunk->columns[MRD__COMMAND_OP], row));
    uint64_t args = args_of(r, chunk, row);
    sink->inexact += exact[0] != (double)start || exact[1] != (double)end;
    mrd__shard_count(sink->shard, 'X');
    mrd__fact *fact = mrd__shard_push(sink->shard);
    fact->phase = MRD__COMPLETE;
    fact->ts = start;
    fact->dur = end - start;
    fact->name = name;
    fact->thread = track;
    fact->args = args & 0xffffffffffffu;
    fact->flags = MRD__ARGS_OWNED;
    sink->rows++;
}

/* What places a row must be there; the rest may be null. */
static mrd_status check_row(const reader *r, const mrd__duck_chunk *chunk, size_t row,
                            mrd_error *error)
{
    static const int needed[] = {MRD__COMMAND_CHIP, MRD__COMMAND_ENGINE, MRD__COMMAND_UNIT,
                                 MRD__COMMAND_THREAD, MRD__COMMAND_OP};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (mrd__duck_valid(&chunk->columns[needed[i]], row)) continue;
        return mrd__fail(error, MRD_ERR_FORMAT, "bad_table",
                         "%s is null in a row of chip %lld (rows by chip, engine, unit, thread); a "
                         "command has chip_id, engine, unit, thread and op",
                         mrd__command_columns[needed[i]], (long long)r->chip);
    }
    return MRD_OK;
}

static mrd_status read_rows(mrd__duck *duck, const char *sql, reader *r, mrd_error *error)
{
    mrd__import *in = r->sink.in;
    mrd__duck_rows *rows = NULL;
    mrd__duck_chunk chunk = {.rows = 1};
    uint64_t told = 0;
    mrd_status status = mrd__duck_query(duck, sql, NULL, 0, &rows, error);
    while (status == MRD_OK && chunk.rows > 0) {
        status = mrd__duck_rows_next(rows, &chunk, error);
        for (size_t i = 0; status == MRD_OK && i < chunk.rows; i++) {
            status = check_row(r, &chunk, i, error);
            if (status == MRD_OK) add_row(r, &chunk, i);
        }
        if (in->progress == NULL || r->sink.rows - told < PROGRESS_ROWS) continue;
        told = r->sink.rows;
        if (!in->progress(in->progress_ctx, in->path, 0, in->map != NULL ? in->map->size : 0))
            status = mrd__fail(error, MRD_ERR_CANCELLED, "cancelled", "cancelled");
    }
    mrd__duck_rows_close(&rows);
    return status;
}

static void build_select(mrd__buf *sql, int fd)
{
    char name[MRD__DUCK_FD_NAME];
    for (int i = 0; i < MRD__COMMAND_COLUMNS; i++)
        mrd__buf_printf(sql, "%s CAST(%s AS %s)", i == 0 ? "SELECT" : ",", mrd__command_columns[i],
                        column_types[i]);
    mrd__buf_printf(sql,
                    " FROM read_parquet('%s') ORDER BY chip_id, engine, unit, thread, start_ns, "
                    "end_ns, cmd_id",
                    mrd__duck_fd_name(fd, name));
}

mrd_status mrd__commands_read(mrd__import *in, mrd__duck *duck, int fd, mrd_error *error)
{
    reader r = {0};
    mrd__buf sql = {0};
    build_select(&sql, fd);
    mrd__table_begin(&r.sink, in, "command_parquet", (mrd__str){0});
    r.sink.times = "doubles of nanoseconds";
    mrd_status status = read_rows(duck, sql.data, &r, error);
    mrd__table_end(&r.sink);
    mrd__vec_reset(&r.lanes);
    mrd__buf_reset(&r.engine);
    mrd__buf_reset(&r.text);
    mrd__buf_reset(&sql);
    return status;
}
