/* What must hold of a sealed store whatever was read: texts valid, times ordered, args one JSON
 * object each. Aborts where it does not. */
#ifndef MRD_FUZZ_CHECK_STORE_H
#define MRD_FUZZ_CHECK_STORE_H

#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"
#include "model/store.h"

static void check_args(const mrd__store *store, mrd__args_ref ref, mrd__buf *scratch)
{
    mrd__str text;
    if (mrd__store_args(store, ref, scratch, &text, NULL) != MRD_OK) abort();
    if (ref == 0) return;
    mrd__json json;
    mrd__json_init(&json, text.data, text.size);
    mrd__json_token token = mrd__json_next(&json);
    if (token.type != MRD__JSON_OBJECT || !mrd__json_skip(&json, token)) abort();
    if (mrd__json_next(&json).type != MRD__JSON_END) abort();
}

static void check_store(const mrd__store *store)
{
    mrd__buf scratch = {0};
    for (size_t i = 0; i < store->string_count; i++)
        if (!mrd__utf8_valid(store->strings[i])) abort();
    for (uint64_t i = 0; i < store->slices.count; i++) {
        if (mrd__store_slice_end(store, i) < mrd__store_slice_start(store, i)) abort();
        check_args(store, store->slices.args[i], &scratch);
    }
    for (uint64_t i = 0; i < store->instants.count; i++)
        check_args(store, store->instants.args[i], &scratch);
    for (size_t t = 0; t < store->track_count; t++)
        if (store->tracks[t].parent != MRD__NONE && store->tracks[t].parent >= store->track_count)
            abort();
    mrd__buf_reset(&scratch);
}

#endif
