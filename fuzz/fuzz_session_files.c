/* Session folders: any bytes as the files of a session, sealed or not. Verifying, reading, looking
 * records up and recovering never break; what is called sound can be read whole; what is recovered
 * is sound, twice the same, and nothing is changed where recovering is refused.
 *
 *   byte 0: flags below; then files as session_folder.h has them */
#include "base/alloc.h"
#include "base/error.h"
#include "session/check.h"
#include "session/format/sample.h"
#include "session/replay.h"
#include "session_folder.h"
#include "unit/session/disk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUT_MAX 65536

enum {
    OPEN = 1,    /* the folder is DIR.open */
    CRCS = 2,    /* make the CRCs of record files fit: what is behind them is reached */
    SEALED = 4,  /* write the seal of the manifest that is there */
    DERIVED = 8, /* recover with the derived files made again */
};

static const char *path_of(unsigned flags, const char *name)
{
    static char path[64];
    snprintf(path, sizeof path, "/s%s/%s", flags & OPEN ? ".open" : "", name);
    return path;
}

static void put_seal(disk *d, unsigned flags)
{
    const mrd__buf *manifest = disk_file(d, path_of(flags, session_files[SESSION_MANIFEST]));
    mrd__buf seal = {0};
    if (manifest != NULL && fit_seal((mrd__str){manifest->data, manifest->size}, &seal))
        disk_put(d, path_of(flags, session_files[SESSION_SEAL]), seal.data, seal.size);
    mrd__buf_reset(&seal);
}

static void make_folder(disk *d, unsigned flags, const uint8_t *data, size_t size)
{
    disk_begin(d);
    if (d->files.mkdir(d, flags & OPEN ? "/s.open" : "/s", 0777) != 0) abort();
    if (d->files.mkdir(d, path_of(flags, "raw"), 0777) != 0) abort();
    unsigned which;
    mrd__str bytes;
    while (next_session_file(&data, &size, &which, &bytes)) {
        const char *path = path_of(flags, session_files[which]);
        disk_put(d, path, bytes.data, bytes.size);
        if ((flags & CRCS) && strstr(path, ".mrl") != NULL) fit_crcs(disk_file(d, path));
    }
    if (flags & SEALED) put_seal(d, flags);
}

static mrd_status count(void *ctx, const mrd__record *record, mrd_error *error)
{
    (void)error;
    if (record->size > 0 && record->payload[record->size - 1] == 0xff) ++((uint64_t *)ctx)[1];
    ++*(uint64_t *)ctx;
    return MRD_OK;
}

static mrd_status sample(void *ctx, const mrd__record *record, mrd_error *error)
{
    double number;
    mrd__metrics_reader *reader = ctx;
    MRD__TRY(mrd__metrics_read(reader, record->type - MRD__RECORD_DERIVED, record->sequence,
                               (mrd__str){(const char *)record->payload, record->size}, error));
    if (record->type - MRD__RECORD_DERIVED != MRD__METRICS_SAMPLE) return MRD_OK;
    if (mrd__measured_get(reader->sample.value, &number) !=
        (reader->sample.value.quality == MRD__QUALITY_OK))
        abort();
    return MRD_OK;
}

/* A failure has a status and a message. */
static bool failed(mrd_status status, const mrd_error *error)
{
    if (status != MRD_OK && error->message[0] == '\0') abort();
    return status != MRD_OK;
}

static void read_all(disk *d, const mrd__verify_result *verified)
{
    mrd__stored *stored;
    mrd_error error = {0};
    mrd__damage torn;
    uint64_t records[2] = {0};
    if (failed(mrd__stored_open("/s", &d->files, &stored, &error), &error)) return;
    mrd_status status = mrd__stored_read(stored, count, records, &torn, &error);
    if (failed(status, &error) && verified->sound) abort();
    if (verified->sound && records[0] != verified->records) abort();
    mrd__metrics_reader reader = {0};
    status = mrd__stored_read_derived(stored, MRD__FILE_METRICS, sample, &reader, &error);
    (void)failed(status, &error);
    mrd__metrics_reader_reset(&reader);
    for (uint64_t sequence = 0; sequence < 6; sequence++) {
        mrd__record record;
        mrd__buf payload = {0};
        status = mrd__stored_lookup(stored, sequence * sequence, &record, &payload, &error);
        if (!failed(status, &error) && record.sequence != sequence * sequence) abort();
        mrd__buf_reset(&payload);
    }
    mrd__stored_close(&stored);
}

static mrd__verify_result verify(disk *d)
{
    mrd__verify_result result;
    mrd_error error = {0};
    if (failed(mrd__session_verify("/s", &d->files, &result, &error), &error))
        result.sound = false;
    else if (!result.sound && (result.damage.file[0] == '\0' || result.damage.what[0] == '\0'))
        abort();
    return result;
}

static void recover(disk *d, unsigned flags)
{
    disk before;
    mrd__recover_result result;
    mrd__damage damage;
    mrd_error error = {0};
    mrd__recover_fn derive = flags & DERIVED ? mrd__session_rederive : NULL;
    disk_copy(&before, d);
    mrd_status status =
        mrd__session_recover("/s", &d->files, derive, NULL, &result, &damage, &error);
    if (status == MRD_OK) {
        mrd__verify_result sealed = verify(d);
        if (!result.was_sealed && (!sealed.sound || !sealed.sealed || sealed.completed)) abort();
        status = mrd__session_recover("/s", &before.files, derive, NULL, &result, &damage, &error);
        if (status != MRD_OK || !disk_same(d, &before)) abort();
    } else {
        (void)failed(status, &error);
        if (status == MRD_ERR_FORMAT && strcmp(error.code, "damaged") == 0 &&
            !disk_same(d, &before))
            abort();
    }
    disk_end(&before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > INPUT_MAX) return 0;
    unsigned flags = data[0];
    disk d;
    make_folder(&d, flags, data + 1, size - 1);
    mrd__verify_result result = verify(&d);
    read_all(&d, &result);
    recover(&d, flags);
    disk_end(&d);
    return 0;
}
