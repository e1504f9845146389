/* The scan for borders against the same byte by byte. */
#include "ingest/unit.h"

#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "ingest/chrome_json/fast.h"

static void test_random(void **state)
{
    (void)state;
    static const char bytes[] = "\"\"\\\\\\{}[]{}[]:,aé \n\001";
    mrd__rng rng = {5};
    char *text = mrd__alloc(1000);
    for (int round = 0; round < 20000; round++) {
        size_t size = mrd__rng_below(&rng, 400);
        /* Few or many of the bytes that matter. */
        uint64_t plain = mrd__rng_below(&rng, 8);
        for (size_t i = 0; i < size; i++)
            text[i] = mrd__rng_below(&rng, 8) < plain
                          ? 'x'
                          : bytes[mrd__rng_below(&rng, sizeof bytes - 1)];
        size_t from = mrd__rng_below(&rng, size + 1);
        size_t to = from + mrd__rng_below(&rng, size - from + 1);
        bool escaped = mrd__rng_below(&rng, 2);
        mrd__cj_scan want = mrd__cj_scan_plain(text, from, to, escaped);
        for (int narrow = 0; narrow < 2; narrow++) {
            mrd__cj_scan got = narrow ? mrd__cj_scan_32(text, from, to, escaped)
                                      : mrd__cj_scan_piece(text, from, to, escaped);
            if (want.flips != got.flips || want.depth[0] != got.depth[0] ||
                want.depth[1] != got.depth[1])
                fail_msg("round %d: narrow %d, from %zu to %zu escaped %d of %.*s", round, narrow,
                         from, to, escaped, (int)size, text);
        }
    }
    mrd__free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
