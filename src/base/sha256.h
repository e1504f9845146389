/* SHA-256, for hashes that go into files and stores. */
#ifndef MRD_BASE_SHA256_H
#define MRD_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define MRD__SHA256_SIZE 32

/* A hash in progress: a plain value that may be copied at any point, nothing to free. */
typedef struct mrd__sha256 {
    uint64_t words[14];
} mrd__sha256;

/* One thread a hash. end gives the hash of all bytes added and uses the state up; to look at a hash
 * that goes on, end a copy. */
void mrd__sha256_begin(mrd__sha256 *hash);
void mrd__sha256_add(mrd__sha256 *hash, const void *data, size_t size);
void mrd__sha256_end(mrd__sha256 *hash, uint8_t out[MRD__SHA256_SIZE]);

/* 32 bytes as 64 lower-case hexadecimal digits and NUL. Any thread. */
void mrd__sha256_text(const uint8_t hash[MRD__SHA256_SIZE], char out[65]);
/* Hash of size bytes as 64 lower-case hexadecimal digits and NUL. Any thread. */
void mrd__sha256_hex(const void *data, size_t size, char out[65]);

#endif
