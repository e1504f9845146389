/* Limits of unpacking: what passes one of them is refused as a whole, nothing is opened. They stand
 * far above real archives (a thousand ranks of some hundred MB) and far below what an archive made
 * to do harm unpacks to. */
#ifndef MRD_INGEST_ARCHIVE_LIMITS_H
#define MRD_INGEST_ARCHIVE_LIMITS_H

/* Bytes that all archives of a trace unpack to: they are held in memory until they are read. */
#define MRD__UNPACK_MAX_BYTES ((uint64_t)64 << 30)
/* Unpacked to packed bytes of a trace: traces reach 40, deflate alone ends at 1,032 and zstd far
 * above. Small files may do as they like: nothing is at stake. */
#define MRD__UNPACK_MAX_RATIO 400u
#define MRD__UNPACK_RATIO_FROM ((uint64_t)256 << 20)
/* Members over all archives of a trace, with those that are not read. */
#define MRD__UNPACK_MAX_MEMBERS 65536u
/* Archives and compressions inside one another. */
#define MRD__UNPACK_MAX_DEPTH 8u
/* Length of a member's path. */
#define MRD__UNPACK_MAX_NAME 4096u

#endif
