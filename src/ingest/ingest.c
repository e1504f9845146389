/* The registry: a format is one folder and one row of this table. */
#include "ingest/ingest.h"
#include "base/error.h"
#include "ingest/chrome_json/chrome_json.h"
#include "ingest/event_parquet/event_parquet.h"
#include "ingest/gzip.h"
#include "ingest/perfetto/perfetto.h"
#include "ingest/session/session.h"
#include "ingest/table/table.h"

/* Two formats stand in Parquet files; which one tell the columns at the file's end. */
static bool sniff_parquet(const char *head, size_t size)
{
    return mrd__importer_event_parquet.sniff(head, size);
}

static mrd_status read_parquet(mrd__import *in, mrd_error *error)
{
    bool table = in->map != NULL && in->map->data != NULL &&
                 mrd__table_in_parquet((mrd__str){in->map->data, in->map->size});
    return table ? mrd__table_read_parquet(in, error) : mrd__importer_event_parquet.read(in, error);
}

static const mrd__importer parquet = {
    .name = "event_parquet",
    .what = "event trace in Parquet",
    .priority = 20,
    .by_path = true,
    .sniff = sniff_parquet,
    .read = read_parquet,
};

const mrd__importer *const mrd__importers[] = {
    &parquet,
    &mrd__importer_arrow_table,
    &mrd__importer_table_folder,
    &mrd__importer_session,
    &mrd__importer_chrome_json,
    &mrd__importer_perfetto,
    NULL,
};

static const mrd__importer *ask(const char *head, size_t size)
{
    for (size_t i = 0; mrd__importers[i] != NULL; i++) {
        if (mrd__importers[i]->sniff(head, size)) return mrd__importers[i];
    }
    return NULL;
}

mrd_status mrd__ingest_detect(const char *path, const char *head, size_t size,
                              const mrd__importer **out, mrd_error *error)
{
    *out = NULL;
    bool packed = mrd__is_gzip(head, size);
    if (packed) {
        char *text = mrd__alloc(MRD__SNIFF_BYTES);
        mrd__gzip *gzip = mrd__gzip_create(head, size);
        size_t got = mrd__gzip_read(gzip, text, MRD__SNIFF_BYTES);
        *out = ask(text, got);
        mrd__gzip_destroy(&gzip);
        mrd__free(text);
    } else {
        *out = ask(head, size);
    }
    if (*out != NULL) return MRD_OK;
    mrd__buf asked = {0};
    for (size_t i = 0; mrd__importers[i] != NULL; i++) {
        if (i > 0) mrd__buf_text(&asked, "; ");
        mrd__buf_text(&asked, mrd__importers[i]->what);
    }
    mrd__buf_text(&asked, "; archives of these (zip, tar, gz, zst, xz)");
    mrd_status status = mrd__fail(error, MRD_ERR_FORMAT, "unknown_format",
                                  "unknown format%s; the formats asked are: %s",
                                  packed      ? " inside gzip"
                                  : size == 0 ? ": the file is empty"
                                              : "",
                                  asked.data);
    mrd__buf_reset(&asked);
    return mrd__fail_at(error, status, path, -1);
}
