/* SHA-256, for hashes that go into files and stores. */
#ifndef MRD_BASE_SHA256_H
#define MRD_BASE_SHA256_H

#include <stddef.h>

/* Hash of size bytes as 64 lower-case hexadecimal digits and NUL. Any thread. */
void mrd__sha256_hex(const void *data, size_t size, char out[65]);

#endif
