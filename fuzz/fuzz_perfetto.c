/* Perfetto protobuf: any bytes are read and sealed, and the store must be whole. */
#include "base/os.h"
#include "check_store.h"
#include "ingest/perfetto/perfetto.h"
#include "open/seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const mrd__importer *importer;
    size_t head = size < MRD__SNIFF_BYTES ? size : MRD__SNIFF_BYTES;
    (void)!mrd__ingest_detect("input", (const char *)data, head, &importer, NULL);
    mrd__map map = {.data = (const char *)data, .size = size};
    mrd__writer *writer = mrd__writer_create();
    mrd__import in = {.path = "input", .map = &map, .writer = writer, .threads = 1};
    mrd_error error = {0};
    mrd__store *store = NULL;
    if (mrd__importer_perfetto.read(&in, &error) != MRD_OK) abort();
    if (mrd__seal(&writer, 1, &store, &error) != MRD_OK) abort();
    check_store(store);
    mrd__store_destroy(&store);
    return 0;
}
