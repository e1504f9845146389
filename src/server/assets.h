// The page's files, embedded in the program by cmake/assets.cmake.
#ifndef MRD_SERVER_ASSETS_H
#define MRD_SERVER_ASSETS_H

#include <stddef.h>

// One file. `path` is absolute within the page ("/index.html"), `mime` a full Content-Type value.
// All memory is constant and lives as long as the program; any thread may read it.
struct mrd__asset {
    const char *path;
    const char *mime;
    const unsigned char *data;
    size_t size; // bytes
};

// The files, sorted by path in byte order; mrd__asset_count of them (at least 1).
extern const struct mrd__asset mrd__assets[];
extern const size_t mrd__asset_count;

#endif
