#include "base/sha256.h"

#include "base/assert.h"

#include <openssl/evp.h>

void mrd__sha256_hex(const void *data, size_t size, char out[65])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char hash[32];
    int done = EVP_Digest(data, size, hash, NULL, EVP_sha256(), NULL);
    mrd__assert(done == 1); /* fails only without memory */
    for (int i = 0; i < 32; i++) {
        out[2 * i] = digits[hash[i] >> 4];
        out[2 * i + 1] = digits[hash[i] & 15];
    }
    out[64] = '\0';
}
