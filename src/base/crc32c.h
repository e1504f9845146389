/* CRC-32C (Castagnoli): finds every single flipped bit and every burst up to 32 bits. */
#ifndef MRD_BASE_CRC32C_H
#define MRD_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The CRC of bytes already seen followed by data: crc is that of those, 0 for none.
 * Any thread. */
uint32_t mrd__crc32c(uint32_t crc, const void *data, size_t size);
/* The same by tables, as on processors without SSE4.2: for tests. */
uint32_t mrd__crc32c_portable(uint32_t crc, const void *data, size_t size);

#endif
