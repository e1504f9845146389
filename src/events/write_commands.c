/* Command records out. */
#include "base/alloc.h"
#include "base/error.h"
#include "events/command_file.h"
#include "events/file.h"

typedef struct writer {
    const mrd__command_source *source;
    mrd__command_record records[MRD__DUCK_BATCH];
} writer;

const char *const mrd__command_columns[MRD__COMMAND_COLUMNS] = {
    "chip_id", "engine", "unit",     "thread", "cmd_id",      "op",
    "peer",    "bytes",  "start_ns", "end_ns", "source_op_id"};

static void put(mrd__duck_out *columns, size_t i, const mrd__command_record *r)
{
    static const char *const engines[] = {"cdma", "tiu", "sdma"};
    ((int32_t *)columns[MRD__COMMAND_CHIP].data)[i] = r->chip_id;
    mrd__duck_out_borrowed(&columns[MRD__COMMAND_ENGINE], i, mrd__str_of(engines[r->engine]));
    ((int32_t *)columns[MRD__COMMAND_UNIT].data)[i] = r->unit;
    ((int32_t *)columns[MRD__COMMAND_THREAD].data)[i] = r->thread;
    ((int64_t *)columns[MRD__COMMAND_CMD].data)[i] = r->cmd_id;
    mrd__duck_out_borrowed(&columns[MRD__COMMAND_OP], i, mrd__str_of(r->op));
    if (r->peer < 0)
        mrd__duck_out_null(&columns[MRD__COMMAND_PEER], i);
    else
        ((int32_t *)columns[MRD__COMMAND_PEER].data)[i] = r->peer;
    ((int64_t *)columns[MRD__COMMAND_BYTES].data)[i] = r->bytes;
    ((double *)columns[MRD__COMMAND_START].data)[i] = r->start_ns;
    ((double *)columns[MRD__COMMAND_END].data)[i] = r->end_ns;
    if (r->source_op_id < 0)
        mrd__duck_out_null(&columns[MRD__COMMAND_SOURCE], i);
    else
        ((int64_t *)columns[MRD__COMMAND_SOURCE].data)[i] = r->source_op_id;
}

static mrd_status next_rows(void *ctx, mrd__duck_out *columns, size_t *rows, mrd_error *error)
{
    writer *w = ctx;
    *rows = 0;
    MRD__TRY(w->source->next(w->source->ctx, w->records, MRD__DUCK_BATCH, rows, error));
    for (size_t i = 0; i < *rows; i++)
        put(columns, i, &w->records[i]);
    return MRD_OK;
}

mrd_status mrd__command_write(const char *path, const mrd__command_source *source, mrd_error *error)
{
    static const mrd__duck_type types[MRD__COMMAND_COLUMNS] = {
        MRD__DUCK_INT32,  MRD__DUCK_TEXT,   MRD__DUCK_INT32, MRD__DUCK_INT32,
        MRD__DUCK_INT64,  MRD__DUCK_TEXT,   MRD__DUCK_INT32, MRD__DUCK_INT64,
        MRD__DUCK_DOUBLE, MRD__DUCK_DOUBLE, MRD__DUCK_INT64};
    writer *w = mrd__new(writer);
    w->source = source;
    mrd__duck_source rows = {.width = MRD__COMMAND_COLUMNS,
                             .names = mrd__command_columns,
                             .types = types,
                             .next = next_rows,
                             .ctx = w};
    mrd__duck_kv kv[] = {{"producer", MRD__STR("meridian")}, {"schema_version", MRD__STR("1")}};
    mrd__parquet_job job = {.rows = &rows, .kv = kv, .kv_count = 2};
    mrd_status status = mrd__parquet_file_write(path, &job, error);
    mrd__free(w);
    return status;
}
