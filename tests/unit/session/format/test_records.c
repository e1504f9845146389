#include "session/format/merkle.h"
#include "session/format/reader.h"
#include "unit.h"

#include "base/alloc.h"
#include "base/crc32c.h"
#include "base/os.h"
#include "session/format/bytes.h"

#include <string.h>

static const uint8_t uuid[16] = "0123456789abcdef";

static uint32_t begin(mrd__buf *out, mrd__file_kind kind, uint64_t first)
{
    mrd__segment_head head = {.kind = (uint16_t)kind, .index = 1, .first_sequence = first};
    uint8_t bytes[MRD__SEGMENT_HEAD];
    memcpy(head.uuid, uuid, 16);
    uint32_t crc = mrd__segment_head_write(&head, bytes);
    mrd__buf_add(out, bytes, sizeof bytes);
    return crc;
}

static uint32_t add(mrd__buf *out, unsigned type, unsigned flags, uint64_t sequence,
                    const char *text, uint32_t chain)
{
    mrd__str part = mrd__str_of(text);
    return mrd__record_append(out, type, flags, sequence, &part, 1, chain);
}

/* Read all; the step that ended it. */
static mrd__read_step read_all(mrd__reader *reader, mrd__buf *data, uint64_t *records)
{
    mrd__record record;
    mrd__read_step step;
    uint64_t count = 0;
    mrd__reader_memory(reader, data->data, data->size);
    mrd__reader_hash(reader);
    while ((step = mrd__reader_next(reader, &record, NULL)) == MRD__STEP_RECORD)
        count++;
    if (records != NULL) *records = count;
    assert_int_equal(mrd__reader_next(reader, &record, NULL), step);
    return step;
}

/* The bytes as session/format/record.h has them. */
static void test_layout(void **state)
{
    (void)state;
    mrd__buf out = {0};
    uint32_t chain = begin(&out, MRD__FILE_RAW, 1);
    const uint8_t *head = (const uint8_t *)out.data;
    assert_memory_equal(head, "MRDSEG1\0\x01\0\x01\0", 12);
    assert_memory_equal(head + 12, uuid, 16);
    assert_int_equal(mrd__get32(head + 28), 1);
    assert_int_equal(mrd__get64(head + 32), 1);
    assert_int_equal(mrd__get32(head + 60), mrd__crc32c(0, head, 60));
    add(&out, MRD__RECORD_RAW, MRD__FLAG_SYNCED, 1, "hello", chain);
    const uint8_t *record = (const uint8_t *)out.data + 64;
    assert_int_equal(out.size, 64 + 32 + 8);
    assert_memory_equal(record, "MRDR\x05\0\0\0\x01\0\0\0\0\0\0\0\x01\0\x01\0\0\0\0\0", 24);
    assert_int_equal(mrd__get32(record + 24), chain);
    assert_memory_equal(record + 32, "hello\0\0\0", 8);
    uint32_t crc = mrd__crc32c(mrd__crc32c(0, record, 28), record + 32, 8);
    assert_int_equal(mrd__get32(record + 28), crc);
    mrd__buf_reset(&out);
}

static void test_reading(void **state)
{
    (void)state;
    mrd__buf out = {0};
    mrd__reader reader;
    uint64_t records;
    uint32_t chain = begin(&out, MRD__FILE_RAW, 1);
    assert_int_equal(read_all(&reader, &out, &records), MRD__STEP_END);
    chain = add(&out, MRD__RECORD_LIFECYCLE, 0, 0, "", chain);
    chain = add(&out, MRD__RECORD_RAW, 0, 1, "one", chain);
    chain = add(&out, MRD__RECORD_DECODE_ERROR, 0, 2, "12345678", chain);
    chain = add(&out, MRD__RECORD_CLOCK, 0, 2, "123456789", chain);
    mrd__gap_payload gap = {.code = MRD__GAP_MISSING, .segment = 1, .a = 3, .b = 5};
    uint8_t payload[MRD__GAP_PAYLOAD];
    mrd__gap_write(&gap, payload);
    mrd__str part = {(const char *)payload, sizeof payload};
    chain = mrd__record_append(&out, MRD__RECORD_GAP, MRD__FLAG_OWN, 2, &part, 1, chain);
    chain = add(&out, MRD__RECORD_LIFECYCLE, 0, 5, "after", chain);
    add(&out, MRD__RECORD_RAW, 0, 6, "six", chain);
    assert_int_equal(read_all(&reader, &out, &records), MRD__STEP_END);
    assert_int_equal(records, 7);
    assert_int_equal(reader.sequence, 6);
    assert_int_equal(reader.counts[MRD__RECORD_LIFECYCLE], 2);
    mrd__buf_reset(&out);
}

/* One wrong thing each: the byte range and the reason. */
static void expect_bad(mrd__buf *out, uint64_t from, uint64_t to, const char *what)
{
    mrd__reader reader;
    assert_int_equal(read_all(&reader, out, NULL), MRD__STEP_BAD);
    if (strstr(reader.bad.what, what) == NULL) fail_msg("%s, not %s", reader.bad.what, what);
    assert_int_equal(reader.bad.from, from);
    assert_int_equal(reader.bad.to, to);
    mrd__buf_reset(out);
}

static void test_order(void **state)
{
    (void)state;
    mrd__buf out = {0};
    uint32_t chain = begin(&out, MRD__FILE_RAW, 1);
    add(&out, MRD__RECORD_RAW, 0, 2, "", chain);
    expect_bad(&out, 64, 96, "sequence does not follow");
    chain = begin(&out, MRD__FILE_RAW, 1);
    chain = add(&out, MRD__RECORD_RAW, 0, 1, "", chain);
    add(&out, MRD__RECORD_CLOCK, 0, 0, "", chain);
    expect_bad(&out, 96, 128, "another than the newest");
    chain = begin(&out, MRD__FILE_RAW, 1);
    add(&out, MRD__RECORD_RAW, 0, 1, "", chain + 1);
    expect_bad(&out, 64, 96, "record does not follow");
    chain = begin(&out, MRD__FILE_RAW, 1);
    add(&out, 20, 0, 0, "", chain);
    expect_bad(&out, 64, 96, "type does not exist");
    chain = begin(&out, MRD__FILE_RAW, 1);
    add(&out, MRD__RECORD_RAW, 4, 1, "", chain);
    expect_bad(&out, 64, 96, "flags");
    chain = begin(&out, MRD__FILE_METRICS, 0);
    chain = add(&out, 16, 0, 7, "", chain);
    chain = add(&out, 17, 0, 7, "", chain);
    add(&out, 16, 0, 6, "", chain);
    expect_bad(&out, 128, 160, "falls");
    chain = begin(&out, MRD__FILE_RAW, 1);
    add(&out, MRD__RECORD_GAP, MRD__FLAG_OWN, 0, "short", chain);
    expect_bad(&out, 64, 104, "gap record");
}

static void test_ranges(void **state)
{
    (void)state;
    mrd__buf out = {0};
    uint32_t chain = begin(&out, MRD__FILE_RAW, 1);
    chain = add(&out, MRD__RECORD_RAW, 0, 1, "first", chain);
    chain = add(&out, MRD__RECORD_RAW, 0, 2, "second", chain);
    add(&out, MRD__RECORD_RAW, MRD__FLAG_SYNCED, 3, "third", chain);
    mrd__reader reader;
    out.data[64 + 40 + 33] ^= 1; /* in "second" */
    assert_int_equal(read_all(&reader, &out, NULL), MRD__STEP_BAD);
    assert_int_equal(reader.bad.from, 104);
    assert_int_equal(reader.bad.to, 144);
    assert_false(reader.bad.torn); /* "third" says that all before it was synced */
    assert_string_equal(reader.bad.what, "the CRC of the record does not match");
    memset(out.data + 104, 0, out.size - 104);
    assert_int_equal(read_all(&reader, &out, NULL), MRD__STEP_BAD);
    assert_true(reader.bad.torn && reader.bad.zero);
    assert_int_equal(reader.bad.to, out.size);
    out.size = 110;
    assert_int_equal(read_all(&reader, &out, NULL), MRD__STEP_BAD);
    assert_string_equal(reader.bad.what, "the file ends inside a record's header");
    out.size = 104;
    assert_int_equal(read_all(&reader, &out, NULL), MRD__STEP_END);
    out.size = 63;
    assert_int_equal(read_all(&reader, &out, NULL), MRD__STEP_BAD);
    mrd__buf_reset(&out);
}

typedef struct chunked {
    const mrd__buf *data;
    size_t most;
    uint64_t fail_at;
} chunked;

static mrd_status read_chunk(void *ctx, uint64_t offset, void *out, size_t size, size_t *got,
                             mrd_error *error)
{
    (void)error;
    const chunked *c = ctx;
    if (offset + size > c->fail_at) return MRD_ERR_IO;
    assert_true(offset <= c->data->size);
    size_t left = c->data->size - (size_t)offset;
    *got = left < size ? left : size;
    memcpy(out, c->data->data + offset, *got);
    return MRD_OK;
}

/* Records up to the largest over a source give what they give in memory. */
static void test_source(void **state)
{
    (void)state;
    mrd__buf out = {0};
    mrd__rng rng = {3};
    uint32_t chain = begin(&out, MRD__FILE_RAW, 1);
    char *payload = mrd__calloc(1, MRD__RECORD_PAYLOAD_MAX);
    for (uint64_t i = 1; i <= 60; i++) {
        size_t size = (size_t)mrd__rng_below(&rng, i % 4 == 0 ? MRD__RECORD_PAYLOAD_MAX + 1 : 300);
        payload[size / 2] = (char)i;
        mrd__str part = {payload, size};
        chain = mrd__record_append(&out, MRD__RECORD_RAW, 0, i, &part, 1, chain);
    }
    mrd__reader memory;
    assert_int_equal(read_all(&memory, &out, NULL), MRD__STEP_END);
    chunked c = {&out, 0, UINT64_MAX};
    mrd__byte_source source = {&c, read_chunk};
    mrd__reader reader;
    mrd__record record;
    mrd__read_step step;
    mrd__reader_source(&reader, &source, out.size);
    mrd__reader_hash(&reader);
    while ((step = mrd__reader_next(&reader, &record, NULL)) == MRD__STEP_RECORD)
        assert_memory_equal(record.payload, out.data + record.offset + 32, record.size);
    assert_int_equal(step, MRD__STEP_END);
    assert_memory_equal(&reader.hash, &memory.hash, sizeof reader.hash);
    mrd__reader_reset(&reader);
    c.fail_at = out.size - 1;
    mrd__reader_source(&reader, &source, out.size);
    while ((step = mrd__reader_next(&reader, &record, NULL)) == MRD__STEP_RECORD)
        continue;
    assert_int_equal(step, MRD__STEP_FAILED);
    mrd__reader_reset(&reader);
    mrd__free(payload);
    mrd__buf_reset(&out);
}

/* The test tree of RFC 6962's reference code. */
static void test_merkle(void **state)
{
    (void)state;
    static const struct {
        const char *data;
        size_t size;
        const char *root; /* with this leaf as the last one */
    } leaves[] = {
        {"", 0, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"},
        {"\0", 1, "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"},
        {"\x10", 1, "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"},
        {"\x20\x21", 2, "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"},
        {"\x30\x31", 2, "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4"},
        {"\x40\x41\x42\x43", 4, "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef"},
        {"\x50\x51\x52\x53\x54\x55\x56\x57", 8,
         "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c"},
        {"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f", 16,
         "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"},
    };
    mrd__merkle tree = {0};
    uint8_t hashes[8][32];
    uint8_t root[32];
    char text[65];
    mrd__merkle_root(&tree, root);
    mrd__sha256_text(root, text);
    assert_string_equal(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    for (size_t n = 0; n < 8; n++) {
        mrd__merkle_leaf(leaves[n].data, leaves[n].size, hashes[n]);
        mrd__merkle_add(&tree, hashes[n]);
        mrd__merkle_root(&tree, root);
        mrd__sha256_text(root, text);
        assert_string_equal(text, leaves[n].root);
    }
}

static void test_proofs(void **state)
{
    (void)state;
    uint8_t hashes[40][32];
    uint8_t root[32];
    mrd__merkle tree = {0};
    for (uint8_t n = 0; n < 40; n++) {
        mrd__merkle_leaf(&n, 1, hashes[n]);
        mrd__merkle_add(&tree, hashes[n]);
        mrd__merkle_root(&tree, root);
        for (uint8_t i = 0; i <= n; i++) {
            mrd__merkle_proof proof;
            mrd__merkle_prove(hashes, n + 1u, i, &proof);
            assert_true(mrd__merkle_check(&proof, hashes[i], root));
            assert_false(mrd__merkle_check(&proof, hashes[(i + 1) % 40], root));
            if (proof.length == 0) continue;
            proof.path[proof.length - 1][0] ^= 1;
            assert_false(mrd__merkle_check(&proof, hashes[i], root));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout), cmocka_unit_test(test_reading),
        cmocka_unit_test(test_order),  cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_source), cmocka_unit_test(test_merkle),
        cmocka_unit_test(test_proofs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
