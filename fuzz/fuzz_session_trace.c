/* A session as a trace: any bytes as the files of a sealed session's folder, which lies on the disk
 * as the importer wants it. What is accepted is sealed into a store that must be whole; what is
 * refused says why.
 *
 *   byte 0: flags below; then files as session_folder.h has them. The manifest's 64 '@' stand for
 *   the hash of session.json, which no input could keep. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/sha256.h"
#include "check_store.h"
#include "ingest/session/session.h"
#include "open/seal.h"
#include "own_folder.h"
#include "session_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUT_MAX 262144

enum {
    BY_IDENTITY = 1, /* session.json is opened, not the manifest */
    CRCS = 2,        /* make the CRCs of record files fit */
    SEALED = 4,      /* write a seal that fits, and session.json's hash */
};

static const char *path_of(unsigned which)
{
    static char path[96];
    snprintf(path, sizeof path, "%s/%s", own_folder, session_files[which]);
    return path;
}

static void put_file(unsigned which, mrd__str bytes)
{
    int fd = open(path_of(which), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes.data, bytes.size) != (ssize_t)bytes.size) abort();
    close(fd);
}

static mrd__str view(const mrd__buf *buf)
{
    return (mrd__str){buf->data != NULL ? buf->data : "", buf->size};
}

static void fit_hashes(mrd__buf *files, bool *there)
{
    static const char hole[] = "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@";
    char hash[65];
    mrd__buf *manifest = &files[SESSION_MANIFEST];
    mrd__sha256_hex(view(&files[SESSION_IDENTITY]).data, files[SESSION_IDENTITY].size, hash);
    char *at = manifest->size > 0 ? memmem(manifest->data, manifest->size, hole, 64) : NULL;
    if (at != NULL) memcpy(at, hash, 64);
    mrd__sha256_hex(view(manifest).data, manifest->size, hash);
    mrd__buf_clear(&files[SESSION_SEAL]);
    mrd__buf_printf(&files[SESSION_SEAL], "{\"manifest_sha256\":\"%s\"}", hash);
    there[SESSION_SEAL] = true;
}

/* The folder as the input has it; its manifest in *manifest. */
static void make_folder(unsigned flags, const uint8_t *data, size_t size, mrd__buf *manifest)
{
    mrd__buf files[SESSION_FILES] = {0};
    bool there[SESSION_FILES] = {0};
    unsigned which;
    mrd__str bytes;
    while (next_session_file(&data, &size, &which, &bytes)) {
        mrd__buf_clear(&files[which]);
        mrd__buf_str(&files[which], bytes);
        there[which] = true;
    }
    for (unsigned i = SESSION_DOMAIN; i <= SESSION_METRICS; i++)
        if ((flags & CRCS) && files[i].size > 0) fit_crcs(&files[i]);
    if (flags & SEALED) fit_hashes(files, there);
    for (unsigned i = SESSION_IDENTITY; i <= SESSION_METRICS; i++) {
        if (there[i])
            put_file(i, view(&files[i]));
        else
            unlink(path_of(i));
    }
    mrd__buf_str(manifest, view(&files[SESSION_MANIFEST]));
    for (unsigned i = 0; i < SESSION_FILES; i++)
        mrd__buf_reset(&files[i]);
}

static void read_session(unsigned which, const mrd__buf *manifest)
{
    mrd__map map = {.data = manifest->data, .size = manifest->size};
    char path[96];
    snprintf(path, sizeof path, "%s", path_of(which));
    mrd__import in = {.path = path, .map = &map, .threads = 1};
    if (which == SESSION_IDENTITY) in.map = NULL;
    in.writer = mrd__writer_create();
    mrd_error error = {0};
    mrd__store *store = NULL;
    mrd_status status = mrd__importer_session.read(&in, &error);
    if (status != MRD_OK) {
        if (error.status != status || !error.code[0] || !error.message[0]) abort();
        if (status == MRD_ERR_INTERNAL) abort(); /* damaged input is no fault of ours */
        mrd__writer_destroy(&in.writer);
        return;
    }
    if (mrd__seal(&in.writer, 1, &store, &error) != MRD_OK) abort();
    check_store(store);
    mrd__store_destroy(&store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool begun;
    mrd__buf manifest = {0};
    if (size == 0 || size > INPUT_MAX) return 0;
    if (!begun) {
        make_own_folder();
        begun = true;
    }
    make_folder(data[0], data + 1, size - 1, &manifest);
    if (manifest.size > 0) (void)mrd__importer_session.sniff(manifest.data, manifest.size);
    read_session(data[0] & BY_IDENTITY ? SESSION_IDENTITY : SESSION_MANIFEST, &manifest);
    mrd__buf_reset(&manifest);
    return 0;
}
