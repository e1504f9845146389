/* Shared by the writers of this module: Parquet under a temporary name, metadata put right at the
 * end. */
#ifndef MRD_EVENTS_FILE_H
#define MRD_EVENTS_FILE_H

#include "duck/duck.h"

#define MRD__LATE_WIDTH 32 /* bytes of a late value: a double's shortest text has at most 24 */

/* A metadata value that is known only after the last row. */
typedef struct mrd__late_value {
    const char *key;   /* was written with MRD__LATE_WIDTH zeros, or one */
    const char *value; /* as many bytes */
} mrd__late_value;

/* Write rows as Parquet to a temporary name beside path, put the late values right (late, with
 * ctx, fills their values after the last row; may be NULL), sync, rename. */
typedef struct mrd__parquet_job {
    const mrd__duck_source *rows;
    const mrd__duck_kv *kv;
    size_t kv_count;
    mrd__late_value *late;
    size_t late_count;
    void (*finish)(void *ctx);
    void *ctx;
} mrd__parquet_job;
MRD_MUST_CHECK mrd_status mrd__parquet_file_write(const char *path, const mrd__parquet_job *job,
                                                  mrd_error *error);

#endif
