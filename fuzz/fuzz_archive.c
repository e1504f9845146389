/* Archives: any bytes are unpacked, nested ones too, with one thread and with three; both must find
 * the same inputs, in the same order, each with a path in UTF-8 and a place in the tree. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/inputs.h"

#define MAX_BYTES ((uint64_t)16 << 20) /* unpacked: enough for what a corpus needs */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static mrd_status open_with(const uint8_t *data, size_t size, uint32_t threads, mrd__inputs *out,
                            mrd_error *error)
{
    mrd__map map;
    char *bytes = mrd__map_memory(&map, "input", size);
    if (bytes == NULL) abort();
    if (size > 0) memcpy(bytes, data, size);
    mrd__map_fit(&map, size);
    return mrd__inputs_of(&map, "input", MAX_BYTES, threads, out, error);
}

static void check(const mrd__inputs *inputs)
{
    for (size_t i = 0; i < inputs->list.count; i++) {
        const mrd__input *input = &inputs->list.data[i];
        if (!mrd__utf8_valid(mrd__str_of(input->path))) abort();
        if (input->format == NULL || (input->container && input->importer != NULL)) abort();
        if ((input->parent == MRD__NONE) != (i == 0)) abort();
        if (i > 0 && (input->parent >= i || !inputs->list.data[input->parent].container)) abort();
        if (input->root != 0) abort();
        if (input->importer != NULL && input->map.data == NULL) abort();
    }
}

static void compare(const mrd__inputs *a, const mrd__inputs *b)
{
    if (a->list.count != b->list.count) abort();
    for (size_t i = 0; i < a->list.count; i++) {
        const mrd__input *x = &a->list.data[i];
        const mrd__input *y = &b->list.data[i];
        if (strcmp(x->path, y->path) != 0 || strcmp(x->format, y->format) != 0) abort();
        if (x->map.size != y->map.size || x->losses.count != y->losses.count) abort();
        if (x->map.size > 0 && memcmp(x->map.data, y->map.data, x->map.size) != 0) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mrd__inputs one = {0};
    mrd__inputs three = {0};
    mrd_error error = {0};
    mrd_status status = open_with(data, size, 1, &one, &error);
    if (open_with(data, size, 3, &three, &error) != status) abort();
    if (status == MRD_OK) {
        check(&one);
        compare(&one, &three);
    }
    mrd__inputs_reset(&one);
    mrd__inputs_reset(&three);
    return 0;
}
