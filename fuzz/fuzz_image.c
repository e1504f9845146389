/* Warm images: a real one, damaged as the input says, is refused as none, or is the same trace.
 *
 * An input is a row of edits of six bytes: what is done (0: bits turned, 1: cut there, 2: a byte
 * put over, 3: a run of zeros), where (three bytes, modulo the size), two bytes more. The first
 * byte's next two bits say of which trace the image is. The image's own hashes are not mended:
 * damage is what a cache meets; its owner may write what he wants.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/os.h"
#include "check_store.h"
#include "model/events.h"
#include "model/image.h"
#include "open/open.h"
#include "own_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    EDIT = 6,
    EDITS_MAX = 64,
    EVENTS = 40000 /* a column of their times is too large to be hashed whole */
};

static const char trace_text[] =
    "[{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":5,\"name\":\"a\",\"args\":{\"k\":7}},"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":2,\"dur\":1,\"name\":\"b\"},"
    "{\"ph\":\"s\",\"pid\":1,\"tid\":2,\"ts\":2,\"name\":\"f\",\"id\":1},"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":3,\"ts\":4,\"dur\":1,\"name\":\"c\"},"
    "{\"ph\":\"f\",\"pid\":1,\"tid\":3,\"ts\":4,\"name\":\"f\",\"id\":1},"
    "{\"ph\":\"b\",\"pid\":1,\"ts\":2,\"name\":\"d\",\"cat\":\"c\",\"id\":\"0x1\"},"
    "{\"ph\":\"i\",\"pid\":1,\"tid\":2,\"ts\":2,\"name\":\"e\"},{\"ph\":\"E\",\"ts\":9},"
    "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"p\"}},"
    "{\"ph\":\"C\",\"pid\":1,\"ts\":2,\"name\":\"n\",\"args\":{\"v\":3}}]";

/* JSON as a file that is mapped again, JSON that was unpacked, event records. */
enum {
    PLAIN,
    UNPACKED,
    EVENT_TRACE,
    TRACES
};

static char image_path[64];
static mrd__map images[TRACES]; /* the whole ones */
static mrd__store *wholes[TRACES];

static void write_trace(int which, const char *path)
{
    size_t size = sizeof trace_text - 1;
    if (which == PLAIN) {
        if (mrd__file_write_atomic(path, trace_text, size, NULL) != MRD_OK) abort();
    } else if (which == UNPACKED) {
        gzFile out = gzopen(path, "wb");
        if (out == NULL || gzwrite(out, trace_text, (unsigned)size) <= 0 || gzclose(out) != Z_OK)
            abort();
    } else if (mrd_gen_event_trace(path, EVENTS, 1, NULL) != MRD_OK) {
        abort();
    }
}

static void make_image(int which)
{
    static const char *const names[TRACES] = {"t.json", "t.json.gz", "t.parquet"};
    char trace[64], path[64];
    const char *paths[] = {trace};
    snprintf(trace, sizeof trace, "%s/%s", own_folder, names[which]);
    snprintf(path, sizeof path, "%s/whole-%d", own_folder, which);
    write_trace(which, trace);
    if (mrd__open(paths, 1, NULL, &wholes[which], NULL) != MRD_OK ||
        mrd__image_write(wholes[which], MRD__STR("key"), path, NULL) != MRD_OK ||
        mrd__map_open(&images[which], path, NULL) != MRD_OK)
        abort();
}

static void open_once(void)
{
    if (wholes[0] != NULL) return;
    make_own_folder();
    snprintf(image_path, sizeof image_path, "%s/damaged", own_folder);
    for (int which = 0; which < TRACES; which++)
        make_image(which);
}

static size_t damage(char *bytes, size_t size, const uint8_t *edit)
{
    size_t at = (edit[1] | (size_t)edit[2] << 8 | (size_t)edit[3] << 16) % size;
    size_t run = 1 + (edit[4] | (size_t)edit[5] << 8);
    switch (edit[0] % 4) {
    case 0:
        bytes[at] = (char)(bytes[at] ^ edit[4]);
        break;
    case 1:
        return at > 0 ? at : 1;
    case 2:
        bytes[at] = (char)edit[4];
        break;
    default:
        memset(bytes + at, 0, run < size - at ? run : size - at);
        break;
    }
    return size;
}

static void compare_events(const mrd__events *events, const mrd__events *whole)
{
    if ((events != NULL) != (whole != NULL)) abort();
    if (events == NULL) return;
    if (events->count != whole->count || events->key_count != whole->key_count ||
        events->component_count != whole->component_count ||
        events->intervals.count != whole->intervals.count)
        abort();
    for (size_t i = 0; i < whole->component_count; i++)
        if (!mrd__str_equal(events->components[i], whole->components[i])) abort();
}

/* Opened: nothing that was damaged is seen, of event records where verify was asked. */
static void compare(const mrd__store *store, const mrd__store *whole, bool verified)
{
    check_store(store);
    compare_events(store->events, whole->events);
    for (uint64_t i = 0; verified && store->events != NULL && i < whole->events->count; i++)
        if (store->events->time[i] != whole->events->time[i]) abort();
    if (store->slices.count != whole->slices.count || store->track_count != whole->track_count ||
        store->string_count != whole->string_count || store->flow_count != whole->flow_count)
        abort();
    for (uint64_t i = 0; i < whole->slices.count; i++)
        if (mrd__store_slice_start(store, i) != mrd__store_slice_start(whole, i) ||
            mrd__store_slice_end(store, i) != mrd__store_slice_end(whole, i))
            abort();
    for (size_t i = 0; i < whole->string_count; i++)
        if (!mrd__str_equal(store->strings[i], whole->strings[i])) abort();
}

/* The key alone, as lists of images ask. */
static void check_key(void)
{
    mrd__buf key = {0};
    mrd_error error = {0};
    if (mrd__image_key(image_path, &key, &error) == MRD_OK) {
        if (!mrd__str_equal((mrd__str){key.data, key.size}, MRD__STR("key")) && key.size == 3)
            abort(); /* the header's hash is over the key, too */
    } else if (strcmp(error.code, "bad_image") != 0) {
        abort();
    }
    mrd__buf_reset(&key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    open_once();
    if (size > (size_t)EDIT * EDITS_MAX) return 0;
    int which = size > 0 ? (data[0] >> 2) % 4 % TRACES : PLAIN;
    const mrd__map *image = &images[which];
    char *bytes = mrd__alloc(image->size);
    memcpy(bytes, image->data, image->size);
    size_t left = image->size;
    for (size_t at = 0; at + EDIT <= size; at += EDIT)
        left = damage(bytes, left, data + at);
    if (mrd__file_write_atomic(image_path, bytes, left, NULL) != MRD_OK) abort();
    mrd__free(bytes);
    check_key();
    for (int verify = 0; verify < 2; verify++) {
        mrd__store *store = NULL;
        mrd_error error = {0};
        mrd_status status = mrd__image_open(image_path, MRD__STR("key"), verify, 1, &store, &error);
        if (status == MRD_OK)
            compare(store, wholes[which], verify);
        else if (status != MRD_ERR_FORMAT || strcmp(error.code, "bad_image") != 0)
            abort();
        mrd__store_destroy(&store);
    }
    return 0;
}
