#include "base/crc32c.h"
#include "base/os.h"
#include "base/sha256.h"
#include "unit.h"

#include <string.h>

/* RFC 3720, B.4, and the check value of the catalogue. */
static void test_known(void **state)
{
    (void)state;
    uint8_t bytes[32] = {0};
    assert_int_equal(mrd__crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(mrd__crc32c(0, bytes, 32), 0x8a9136aa);
    memset(bytes, 0xff, 32);
    assert_int_equal(mrd__crc32c(0, bytes, 32), 0x62a8ab43);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)i;
    assert_int_equal(mrd__crc32c(0, bytes, 32), 0x46dd794e);
    assert_int_equal(mrd__crc32c(0, NULL, 0), 0);
}

static void test_pieces_and_tables(void **state)
{
    (void)state;
    uint8_t bytes[300];
    mrd__rng rng = {7};
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)mrd__rng_next(&rng);
    for (size_t from = 0; from < 9; from++) {
        for (size_t to = from; to < sizeof bytes; to++) {
            uint32_t whole = mrd__crc32c(0, bytes + from, to - from);
            size_t middle = from + (size_t)mrd__rng_below(&rng, to - from + 1);
            uint32_t part = mrd__crc32c(0, bytes + from, middle - from);
            assert_int_equal(mrd__crc32c(part, bytes + middle, to - middle), whole);
            assert_int_equal(mrd__crc32c_portable(0, bytes + from, to - from), whole);
        }
    }
}

/* FIPS 180: "abc" and the two-block message, in pieces and with a look in between. */
static void test_sha256(void **state)
{
    (void)state;
    char text[65];
    mrd__sha256_hex("abc", 3, text);
    assert_string_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const char *message = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    mrd__sha256 hash;
    uint8_t out[32];
    mrd__sha256_begin(&hash);
    for (size_t i = 0; i < strlen(message); i++) {
        mrd__sha256 look = hash;
        mrd__sha256_end(&look, out);
        mrd__sha256_add(&hash, message + i, 1);
    }
    mrd__sha256_end(&hash, out);
    mrd__sha256_text(out, text);
    assert_string_equal(text, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_pieces_and_tables),
        cmocka_unit_test(test_sha256),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
