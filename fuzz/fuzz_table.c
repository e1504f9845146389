/* Slice tables: what begins like Parquet goes through DuckDB, anything else is taken for Arrow IPC,
 * file or stream. What is accepted is sealed, and the store must be whole. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os.h"
#include "check_store.h"
#include "ingest/table/table.h"
#include "open/seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    ALWAYS = 64
}; /* first Parquet inputs of a run: the kept ones */

static void read_bytes(mrd__import *in, mrd_status (*read)(mrd__import *, mrd_error *))
{
    mrd__writer *writer = mrd__writer_create();
    mrd_error error = {0};
    mrd__store *store = NULL;
    in->writer = writer;
    mrd_status status = read(in, &error);
    if (status != MRD_OK) {
        if (error.status != status || !error.code[0] || !error.message[0]) abort();
        if (status == MRD_ERR_INTERNAL) abort(); /* damaged input is no fault of ours */
        mrd__writer_destroy(&writer);
        return;
    }
    if (mrd__seal(&writer, 1, &store, &error) != MRD_OK) abort();
    check_store(store);
    mrd__store_destroy(&store);
}

static void read_parquet(mrd__import *in)
{
    char path[64];
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, in->map->data, in->map->size) != (ssize_t)in->map->size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    in->data_path = path;
    read_bytes(in, mrd__table_read_parquet);
    close(fd);
}

/* DuckDB takes a hundred times as long as the rest. Kept inputs all go there, of those made from
 * them one in 32. */
static bool is_turn(void)
{
    static unsigned count;
    return count++ < ALWAYS || count % 32 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mrd__map map = {.data = (const char *)data, .size = size};
    mrd__import in = {.path = "input", .map = &map, .threads = 1};
    if (size <= 4 || memcmp(data, "PAR1", 4) != 0)
        read_bytes(&in, mrd__importer_arrow_table.read);
    else if (mrd__table_in_parquet((mrd__str){map.data, size}) && is_turn())
        read_parquet(&in);
    return 0;
}
