/* Items by hand and at random, and what is found out about them, for the tests of pairing. */
#ifndef MRD_TESTS_PAIRING_SLICES_KIT_H
#define MRD_TESTS_PAIRING_SLICES_KIT_H

#include "base/os.h"
#include "pairing/async.h"
#include "pairing/slices.h"

typedef struct kit_items {
    mrd__item *data;
    uint32_t count, capacity;
} kit_items;

/* Append an event; order is its place. Returns it, borrowed until the next. */
mrd__item *kit_add(kit_items *items, uint8_t phase, int64_t ts, int64_t dur, uint32_t name);
kit_items kit_copy(const kit_items *items);
void kit_free(kit_items *items);

/* One file with all orders; counts of losses. */
typedef struct kit_found {
    uint32_t file_first[2];
    mrd__found found;
} kit_found;
void kit_found_init(kit_found *found);
uint64_t kit_found_count(const kit_found *found, mrd__loss_id id);

/* Pair and nest a copy; the caller frees. async: as one async key. */
typedef struct kit_result {
    kit_items items; /* begins in nesting order */
    mrd__nested nested;
    kit_found found;
} kit_result;
kit_result kit_run(const kit_items *items, bool async);
void kit_result_free(kit_result *result);

/* Joined args in tests are numbers: begin * 1000 + end. */
extern const mrd__args_joiner kit_joiner;

#endif
