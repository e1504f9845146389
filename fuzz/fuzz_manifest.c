/* Manifests: any text as the manifest of an archive with two JSON files and a Perfetto file of two
 * machines. It is refused with a place, or the trace is sealed by it and whole. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/inputs.h"
#include "open/plan.h"
#include "open/read.h"
#include "open/seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TAR_BLOCK 512u

static void add_member(mrd__buf *tar, const char *name, const void *data, size_t size)
{
    char head[TAR_BLOCK] = {0};
    unsigned sum = 0;
    snprintf(head, 100, "%s", name);
    snprintf(head + 100, 8, "0000644");
    snprintf(head + 124, 12, "%011zo", size);
    memset(head + 148, ' ', 8);
    head[156] = '0';
    snprintf(head + 257, 6, "ustar");
    head[263] = head[264] = '0';
    for (size_t i = 0; i < sizeof head; i++)
        sum += (unsigned char)head[i];
    snprintf(head + 148, 8, "%06o", sum);
    mrd__buf_add(tar, head, sizeof head);
    if (size > 0) mrd__buf_add(tar, data, size);
    static const char zero[TAR_BLOCK];
    mrd__buf_add(tar, zero, (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK);
}

static const char a_json[] =
    "[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}]";
/* Packets: clocks 6 and 1 read together; an instant of the host; one of machine 7. */
static const unsigned char multi_pb[] =
    "\x0a\x0f\x32\x0d\x0a\x05\x08\x06\x10\xe8\x07\x0a\x04\x08\x01\x10\x05"
    "\x0a\x0d\x40\xd0\x0f\x50\x01\x5a\x07\x48\x03\x58\x01\xba\x01\x01\x68"
    "\x0a\x10\x40\xd0\x0f\x50\x02\x90\x06\x07\x5a\x07\x48\x03\x58\x01\xba\x01\x01\x76";

static void make_inputs(const uint8_t *data, size_t size, mrd__inputs *out)
{
    mrd__buf tar = {0};
    add_member(&tar, "manifest", data, size);
    add_member(&tar, "a.json", a_json, sizeof a_json - 1);
    add_member(&tar, "sub/b.json", a_json, sizeof a_json - 1);
    add_member(&tar, "multi.pb", multi_pb, sizeof multi_pb - 1);
    mrd__map map;
    char *bytes = mrd__map_memory(&map, "t.tar", tar.size + 2 * TAR_BLOCK);
    if (bytes == NULL) abort();
    memcpy(bytes, tar.data, tar.size);
    mrd__map_fit(&map, tar.size + 2 * TAR_BLOCK);
    mrd__buf_reset(&tar);
    if (mrd__inputs_of(&map, "t.tar", 0, 1, out, NULL) != MRD_OK) abort();
}

/* The same file must not stand twice: one would silently win. */
static void check_plan(const mrd__plan *plan)
{
    for (size_t i = 0; i < plan->manifest.files.count; i++)
        for (size_t k = 0; k < i; k++)
            if (plan->input_of[i] == plan->input_of[k]) abort();
}

static void check_store(const mrd__store *store)
{
    if (store->machine_count == 0) abort();
    for (size_t p = 0; p < store->process_count; p++)
        if (store->processes[p].machine >= store->machine_count) abort();
    for (size_t t = 0; t < store->track_count; t++)
        if (store->tracks[t].machine >= store->machine_count) abort();
    for (size_t i = 0; i < store->clock_value_count; i++)
        if (store->clock_values[i].clock >= store->clock_count) abort();
    for (size_t i = 0; i < store->clock_hop_count; i++)
        if (store->clock_hops[i].to >= store->clock_count) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 1 << 16 || mrd__manifest_sniff((const char *)data, size) == NULL) return 0;
    mrd__inputs inputs = {0};
    mrd__plan plan = {0};
    mrd_error error = {0};
    make_inputs(data, size, &inputs);
    mrd__writer *writer = mrd__writer_create();
    mrd_status status = mrd__plan_make(&plan, &inputs, &error);
    if (status == MRD_OK) {
        check_plan(&plan);
        if (mrd__read_inputs(&inputs, NULL, 1, writer, &error) != MRD_OK) abort();
        status = mrd__plan_check(&plan, &inputs, writer, &error);
    }
    if (status == MRD_OK) {
        mrd__store *store = NULL;
        mrd__writer_plan(writer, &plan.merge);
        if (mrd__seal(&writer, 1, &store, &error) != MRD_OK) abort();
        check_store(store);
        mrd__store_destroy(&store);
    } else if (error.file[0] == '\0' || error.message[0] == '\0') {
        abort();
    }
    mrd__writer_destroy(&writer);
    mrd__plan_reset(&plan);
    mrd__inputs_reset(&inputs);
    return 0;
}
