/* Gzip (RFC 1952) as a stream: any number of members, borders anywhere. */
#ifndef MRD_INGEST_GZIP_H
#define MRD_INGEST_GZIP_H

#include "base/text.h"

typedef struct mrd__gzip mrd__gzip;

/* How a gzip file ended. */
typedef enum mrd__gzip_end {
    MRD__GZIP_GOES_ON, /* not yet at its end */
    MRD__GZIP_WHOLE,
    MRD__GZIP_CUT,     /* ends inside a member */
    MRD__GZIP_DAMAGED, /* a member does not inflate or its check sum differs: what see */
} mrd__gzip_end;

typedef struct mrd__gzip_info {
    mrd__gzip_end end;
    uint64_t members;      /* begun */
    uint64_t taken;        /* compressed bytes read */
    uint64_t inflated;     /* bytes given out */
    uint64_t zero_padding; /* zero bytes behind the last member */
    uint64_t garbage;      /* other bytes behind the last member, not read */
    const char *what;      /* DAMAGED: static text */
} mrd__gzip_info;

bool mrd__is_gzip(const char *head, size_t size);

/* Over bytes in memory, which must outlive it. One thread at a time. */
mrd__gzip *mrd__gzip_create(const char *data, size_t size);
void mrd__gzip_destroy(mrd__gzip **gzip);
/* Inflate up to size bytes into out; fewer than size only at the end, which info tells. */
size_t mrd__gzip_read(mrd__gzip *gzip, char *out, size_t size);
/* Borrowed. */
const mrd__gzip_info *mrd__gzip_info_of(const mrd__gzip *gzip);

#endif
