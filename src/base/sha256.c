/* libcrypto's functions below its EVP layer: its state is a plain struct, so that running hashes
 * are copied by assignment, and a hash of 100 bytes costs no allocation (EVP: 150 ns each). They
 * use the processor's SHA instructions as EVP does. Deprecated in name since 3.0, not removed. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha256.h"

#include "base/assert.h"

#include <openssl/sha.h>
#include <string.h>

_Static_assert(sizeof(SHA256_CTX) == sizeof(mrd__sha256), "the state is libcrypto's");
_Static_assert(_Alignof(SHA256_CTX) <= _Alignof(mrd__sha256), "the state is libcrypto's");

void mrd__sha256_begin(mrd__sha256 *hash)
{
    int done = SHA256_Init((SHA256_CTX *)(void *)hash);
    mrd__assert(done == 1);
}

void mrd__sha256_add(mrd__sha256 *hash, const void *data, size_t size)
{
    int done = size == 0 || SHA256_Update((SHA256_CTX *)(void *)hash, data, size);
    mrd__assert(done == 1);
}

void mrd__sha256_end(mrd__sha256 *hash, uint8_t out[MRD__SHA256_SIZE])
{
    int done = SHA256_Final(out, (SHA256_CTX *)(void *)hash);
    mrd__assert(done == 1);
}

void mrd__sha256_text(const uint8_t hash[MRD__SHA256_SIZE], char out[65])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < MRD__SHA256_SIZE; i++) {
        out[2 * i] = digits[hash[i] >> 4];
        out[2 * i + 1] = digits[hash[i] & 15];
    }
    out[64] = '\0';
}

void mrd__sha256_hex(const void *data, size_t size, char out[65])
{
    mrd__sha256 state;
    uint8_t hash[MRD__SHA256_SIZE];
    mrd__sha256_begin(&state);
    mrd__sha256_add(&state, data, size);
    mrd__sha256_end(&state, hash);
    mrd__sha256_text(hash, out);
}
