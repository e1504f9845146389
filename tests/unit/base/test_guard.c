/* A mapped file that shrinks while it is read. */
#include "base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"

typedef struct sum {
    const char *data;
    size_t size;
    volatile unsigned long value;
} sum;

static void add_up(void *ctx)
{
    sum *s = ctx;
    s->value = 0;
    for (size_t i = 0; i < s->size; i += 512)
        s->value += (unsigned char)s->data[i];
}

static void test_shrinking_file(void **state)
{
    (void)state;
    char path[] = "/tmp/mrd-guard-XXXXXX";
    static char page[64 * 1024];
    int fd = mkstemp(path);
    memset(page, 1, sizeof page);
    assert_int_equal(write(fd, page, sizeof page), (int)sizeof page);
    mrd__map map = {0};
    assert_int_equal(mrd__map_open(&map, path, NULL), MRD_OK);
    sum s = {map.data, map.size, 0};
    for (int round = 0; round < 3; round++) {
        assert_true(mrd__map_guarded(add_up, &s));
        assert_int_equal(s.value, 128);
    }
    assert_int_equal(ftruncate(fd, 100), 0);
    for (int round = 0; round < 3; round++)
        assert_false(mrd__map_guarded(add_up, &s));
    s.size = 100;
    assert_true(mrd__map_guarded(add_up, &s));
    mrd_error error = {0};
    assert_int_equal(mrd__map_check(&map, &error), MRD_ERR_IO);
    mrd__map_close(&map);
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shrinking_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
