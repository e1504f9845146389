/* Table folders: any bytes as meridian-tables.json and the Parquet files beside it. What is
 * accepted is sealed into a store that must be whole; what is refused says why.
 *
 * Files one behind the other: u8 which, u24 size (little-endian), bytes; one that is not there is
 * absent. DuckDB reads the Parquet, so a second has few inputs: they are what counts. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "check_store.h"
#include "ingest/table/table.h"
#include "open/seal.h"
#include "own_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"meridian-tables.json", "machine.parquet", "process.parquet",
                                    "thread.parquet",       "track.parquet",   "metadata.parquet",
                                    "flow.parquet",         "slice.parquet",   "instant.parquet",
                                    "counter.parquet"};

enum {
    FILES = sizeof names / sizeof *names
};

static const char *path_of(unsigned which)
{
    static char path[96];
    snprintf(path, sizeof path, "%s/%s", own_folder, names[which]);
    return path;
}

static void put_file(unsigned which, const uint8_t *bytes, size_t size)
{
    int fd = open(path_of(which), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size) abort();
    close(fd);
}

/* The description stays in the input: the importer is given it mapped. */
static mrd__str make_folder(const uint8_t *data, size_t size)
{
    mrd__str description = {"", 0};
    for (unsigned i = 0; i < FILES; i++)
        unlink(path_of(i));
    for (size_t at = 0; size - at >= 4;) {
        unsigned which = data[at] % FILES;
        size_t bytes = data[at + 1] | (size_t)data[at + 2] << 8 | (size_t)data[at + 3] << 16;
        at += 4;
        if (bytes > size - at) bytes = size - at;
        if (which == 0)
            description = (mrd__str){(const char *)data + at, bytes};
        else
            put_file(which, data + at, bytes);
        at += bytes;
    }
    return description;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool begun;
    if (!begun) {
        make_own_folder();
        begun = true;
    }
    mrd__str description = make_folder(data, size);
    mrd__map map = {.data = description.data, .size = description.size};
    char path[96];
    snprintf(path, sizeof path, "%s", path_of(0));
    mrd__import in = {.path = path, .map = &map, .writer = mrd__writer_create(), .threads = 1};
    mrd_error error = {0};
    mrd__store *store = NULL;
    mrd_status status = mrd__importer_table_folder.read(&in, &error);
    if (status != MRD_OK) {
        if (error.status != status || !error.code[0] || !error.message[0]) abort();
        if (status == MRD_ERR_INTERNAL) abort(); /* damaged input is no fault of ours */
        mrd__writer_destroy(&in.writer);
        return 0;
    }
    if (mrd__seal(&in.writer, 1, &store, &error) != MRD_OK) abort();
    check_store(store);
    mrd__store_destroy(&store);
    return 0;
}
