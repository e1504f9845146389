/* `machine`, `clock_snapshot`, `clock_path`. */
#include "sql/table.h"

#define COLUMNS(list) .columns = (list), .width = sizeof(list) / sizeof(list)[0]

static void put_word(mrd__sql_out *out, size_t i, const char *text)
{
    if (text == NULL)
        mrd__sql_put_null(out, i);
    else
        mrd__sql_put_text(out, i, mrd__str_of(text));
}

/* ---- machine ---- */

static const mrd__sql_column machine_columns[] = {
    {"id", MRD__SQL_INT},       {"raw_id", MRD__SQL_INT},   {"name", MRD__SQL_TEXT},
    {"sysname", MRD__SQL_TEXT}, {"release", MRD__SQL_TEXT}, {"version", MRD__SQL_TEXT},
    {"arch", MRD__SQL_TEXT},    {"num_cpus", MRD__SQL_INT},
};

static uint64_t machine_count(const mrd__sql *sql)
{
    return sql->store->machine_count;
}

static void machine_cell(const mrd__sql *sql, uint64_t row, unsigned column, mrd__sql_out *out,
                         size_t i)
{
    const mrd__machine *machine = &sql->store->machines[row];
    const mrd__str_id texts[] = {machine->name, machine->sysname, machine->release,
                                 machine->version, machine->arch};
    if (column == 0)
        mrd__sql_put_int(out, i, (int64_t)row);
    else if (column == 1)
        mrd__sql_put_int(out, i, machine->raw_id);
    else if (column < 7)
        mrd__sql_put_string(out, i, sql->store, texts[column - 2]);
    else if (machine->num_cpus > 0)
        mrd__sql_put_int(out, i, machine->num_cpus);
    else
        mrd__sql_put_null(out, i);
}

/* ---- clock_snapshot ---- */

static const mrd__sql_column snapshot_columns[] = {
    {"id", MRD__SQL_INT},          {"ts", MRD__SQL_INT},          {"clock_id", MRD__SQL_INT},
    {"clock_name", MRD__SQL_TEXT}, {"clock_value", MRD__SQL_INT}, {"snapshot_id", MRD__SQL_INT},
    {"machine_id", MRD__SQL_INT},  {"source", MRD__SQL_TEXT},     {"file_id", MRD__SQL_INT},
};

static uint64_t snapshot_count(const mrd__sql *sql)
{
    return sql->store->clock_value_count;
}

static void snapshot_cell(const mrd__sql *sql, uint64_t row, unsigned column, mrd__sql_out *out,
                          size_t i)
{
    const mrd__clock_value *value = &sql->store->clock_values[row];
    const mrd__clock *clock = &sql->store->clocks[value->clock];
    switch (column) {
    case 0:
        mrd__sql_put_int(out, i, (int64_t)row);
        return;
    case 1:
        mrd__sql_put_int(out, i, value->ts_ns);
        if (!value->has_ts) mrd__sql_put_null(out, i);
        return;
    case 2:
        mrd__sql_put_int(out, i, clock->id);
        return;
    case 3:
        put_word(out, i, mrd__clock_name(clock->id));
        return;
    case 4:
        mrd__sql_put_int(out, i, value->value_ns);
        return;
    case 5:
        mrd__sql_put_int(out, i, value->snapshot);
        return;
    case 6:
        mrd__sql_put_int(out, i, clock->machine);
        return;
    case 7:
        put_word(out, i, mrd__clock_origin_name((mrd__clock_origin)value->origin));
        return;
    default:
        mrd__sql_put_int(out, i, clock->file);
    }
}

/* ---- clock_path: a row a step of the way of each clock to trace time; one without steps where it
 * is trace time itself or has no way ---- */

static const mrd__sql_column path_columns[] = {
    {"clock", MRD__SQL_INT},           {"clock_id", MRD__SQL_INT},
    {"clock_name", MRD__SQL_TEXT},     {"sequence_id", MRD__SQL_INT},
    {"file_id", MRD__SQL_INT},         {"machine_id", MRD__SQL_INT},
    {"reached", MRD__SQL_BOOL},        {"facts", MRD__SQL_INT},
    {"dropped", MRD__SQL_INT},         {"step", MRD__SQL_INT},
    {"from_clock", MRD__SQL_INT},      {"to_clock", MRD__SQL_INT},
    {"source", MRD__SQL_TEXT},         {"observations", MRD__SQL_INT},
    {"first_offset_ns", MRD__SQL_INT}, {"last_offset_ns", MRD__SQL_INT},
    {"spread_ns", MRD__SQL_INT},       {"drift_ppm", MRD__SQL_REAL},
};
enum {
    FIRST_STEP_COLUMN = 9
};

static uint64_t steps_of(const mrd__clock *clock)
{
    return clock->hop_count > 0 ? clock->hop_count : 1;
}

static uint64_t path_count(const mrd__sql *sql)
{
    uint64_t count = 0;
    for (size_t c = 0; c < sql->store->clock_count; c++)
        count += steps_of(&sql->store->clocks[c]);
    return count;
}

static void clock_cell(const mrd__clock *clock, size_t index, unsigned column, mrd__sql_out *out,
                       size_t i)
{
    const int64_t numbers[] = {(int64_t)index,
                               clock->id,
                               0,
                               clock->sequence,
                               clock->file,
                               clock->machine,
                               0,
                               (int64_t)clock->facts,
                               (int64_t)clock->dropped};
    if (column == 2)
        put_word(out, i, mrd__clock_name(clock->id));
    else if (column == 6)
        mrd__sql_put_bool(out, i, clock->reached);
    else
        mrd__sql_put_int(out, i, numbers[column]);
}

static void step_cell(const mrd__clock_step *step, uint64_t place, unsigned column,
                      mrd__sql_out *out, size_t i)
{
    const int64_t numbers[] = {
        (int64_t)place,        step->from,           step->to,       0, (int64_t)step->observations,
        step->first_offset_ns, step->last_offset_ns, step->spread_ns};
    unsigned at = column - FIRST_STEP_COLUMN;
    if (at == 3)
        put_word(out, i, mrd__clock_origin_name((mrd__clock_origin)step->origin));
    else if (at == 8)
        mrd__sql_put_real(out, i, step->drift_ppm);
    else
        mrd__sql_put_int(out, i, numbers[at]);
}

static void path_cell(const mrd__sql *sql, uint64_t row, unsigned column, mrd__sql_out *out,
                      size_t i)
{
    const mrd__store *store = sql->store;
    size_t c = 0;
    for (; row >= steps_of(&store->clocks[c]); c++)
        row -= steps_of(&store->clocks[c]);
    const mrd__clock *clock = &store->clocks[c];
    if (column < FIRST_STEP_COLUMN)
        clock_cell(clock, c, column, out, i);
    else if (clock->hop_count == 0)
        mrd__sql_put_null(out, i);
    else
        step_cell(&store->clock_hops[clock->first_hop + row], row, column, out, i);
}

const mrd__sql_table mrd__sql_clock_tables[] = {
    {.name = "mrd_machine", COLUMNS(machine_columns), .count = machine_count, .cell = machine_cell},
    {.name = "clock_snapshot",
     COLUMNS(snapshot_columns),
     .count = snapshot_count,
     .cell = snapshot_cell},
    {.name = "clock_path", COLUMNS(path_columns), .count = path_count, .cell = path_cell},
    {.name = NULL},
};
