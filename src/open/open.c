#include "open/open.h"

#include "base/error.h"
#include "ingest/ingest.h"
#include "model/limits.h"
#include "open/seal.h"

#include <stdlib.h>
#include <string.h>

static mrd_status read_file(const char *path, const mrd_open_options *options, uint32_t threads,
                            mrd__writer *writer, mrd_error *error)
{
    mrd__map map = {0};
    MRD__TRY(mrd__map_open(&map, path, error));
    size_t head = map.size < MRD__SNIFF_BYTES ? map.size : MRD__SNIFF_BYTES;
    const mrd__importer *importer = NULL;
    mrd_status status = mrd__ingest_detect(path, map.data, head, &importer, error);
    if (status == MRD_OK) {
        mrd__import in = {.path = path, .map = &map, .writer = writer, .threads = threads};
        if (options != NULL) {
            in.progress = options->progress;
            in.progress_ctx = options->progress_ctx;
        }
        status = importer->read(&in, error);
    }
    if (status != MRD_OK) mrd__fail_at(error, status, path, -1);
    mrd__map_close(&map);
    return status;
}

mrd_status mrd__open(const char *const *paths, size_t count, const mrd_open_options *options,
                     mrd__store **out, mrd_error *error)
{
    *out = NULL;
    if (count == 0)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "no_files", "no file given, at least 1 needed");
    if (count > MRD__FILES_MAX)
        return mrd__fail(error, MRD_ERR_LIMIT, "too_many_files",
                         "%zu files given, a trace takes at most %u", count, MRD__FILES_MAX);
    uint32_t threads = options != NULL ? options->threads : 0;
    if (threads == 0) threads = mrd__cores();
    mrd__writer *writer = mrd__writer_create();
    mrd_status status = MRD_OK;
    for (size_t i = 0; i < count && status == MRD_OK; i++)
        status = read_file(paths[i], options, threads, writer, error);
    if (status == MRD_OK)
        status = mrd__seal(&writer, threads, out, error);
    else
        mrd__writer_destroy(&writer);
    return status;
}
