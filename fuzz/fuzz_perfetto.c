/* Perfetto protobuf: any bytes are read and sealed. The store must be whole: texts valid, times
 * ordered, args one JSON object each. */
#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/os.h"
#include "ingest/perfetto/perfetto.h"
#include "open/seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_args(const mrd__store *store, mrd__args_ref ref, mrd__buf *scratch)
{
    mrd__str text;
    if (mrd__store_args(store, ref, scratch, &text, NULL) != MRD_OK) abort();
    if (ref == 0) return;
    mrd__json json;
    mrd__json_init(&json, text.data, text.size);
    mrd__json_token token = mrd__json_next(&json);
    if (token.type != MRD__JSON_OBJECT || !mrd__json_skip(&json, token)) abort();
    if (mrd__json_next(&json).type != MRD__JSON_END) abort();
}

static void check(const mrd__store *store)
{
    mrd__buf scratch = {0};
    for (size_t i = 0; i < store->string_count; i++)
        if (!mrd__utf8_valid(store->strings[i])) abort();
    for (uint64_t i = 0; i < store->slices.count; i++) {
        if (mrd__store_slice_end(store, i) < mrd__store_slice_start(store, i)) abort();
        check_args(store, store->slices.args[i], &scratch);
    }
    for (uint64_t i = 0; i < store->instants.count; i++)
        check_args(store, store->instants.args[i], &scratch);
    for (size_t t = 0; t < store->track_count; t++)
        if (store->tracks[t].parent != MRD__NONE && store->tracks[t].parent >= store->track_count)
            abort();
    mrd__buf_reset(&scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const mrd__importer *importer;
    size_t head = size < MRD__SNIFF_BYTES ? size : MRD__SNIFF_BYTES;
    (void)!mrd__ingest_detect("input", (const char *)data, head, &importer, NULL);
    if (mrd__is_gzip((const char *)data, size)) return 0; /* inflating has a fuzzer of its own */
    mrd__map map = {.data = (const char *)data, .size = size};
    mrd__writer *writer = mrd__writer_create();
    mrd__import in = {.path = "input", .map = &map, .writer = writer, .threads = 1};
    mrd_error error = {0};
    mrd__store *store = NULL;
    if (mrd__importer_perfetto.read(&in, &error) != MRD_OK) abort();
    if (mrd__seal(&writer, 1, &store, &error) != MRD_OK) abort();
    check(store);
    mrd__store_destroy(&store);
    return 0;
}
