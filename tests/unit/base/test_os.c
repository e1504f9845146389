#include "base/alloc.h"
#include "base/os.h"
#include "unit.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/mrd-test-os-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static int turn;
    char *out = path[turn++ % 4];
    mrd__buf buf = {0};
    mrd__buf_printf(&buf, "%s/%s", folder, name);
    assert_true(buf.size < sizeof path[0]);
    memcpy(out, buf.data, buf.size + 1);
    mrd__buf_reset(&buf);
    return out;
}

static void test_map_sizes(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 65536, 70001};
    const char *path = in_folder("map");
    char *data = mrd__alloc(70001);
    memset(data, 'x', 70001);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_int_equal(mrd__file_write_atomic(path, data, sizes[i], NULL), MRD_OK);
        mrd__map map;
        assert_int_equal(mrd__map_open(&map, path, NULL), MRD_OK);
        assert_int_equal(map.size, sizes[i]);
        assert_memory_equal(map.data, data, sizes[i]);
        for (size_t n = 0; n < MRD__MAP_SLACK; n++)
            assert_int_equal(map.data[map.size + n], 0);
        assert_string_equal(map.path, path);
        assert_int_equal(mrd__map_check(&map, NULL), MRD_OK);
        mrd__map_close(&map);
        assert_null(map.data);
        mrd__map_close(&map);
    }
    mrd__free(data);
    unlink(path);
}

static void test_map_changed(void **state)
{
    (void)state;
    const char *path = in_folder("changing");
    mrd_error error = {0};
    mrd__map map;
    assert_int_equal(mrd__file_write_atomic(path, "12345", 5, NULL), MRD_OK);
    assert_int_equal(mrd__map_open(&map, path, NULL), MRD_OK);
    assert_int_equal(mrd__file_write_atomic(path, "1234567", 7, NULL), MRD_OK);
    assert_memory_equal(map.data, "12345", 6);
    assert_int_equal(mrd__map_check(&map, &error), MRD_ERR_IO);
    assert_string_equal(error.code, "file_changed");
    assert_string_equal(error.message, "file changed on disk: 5 bytes when opened, 7 bytes now");
    mrd__map_close(&map);
    /* The same size: the time tells. */
    assert_int_equal(mrd__map_open(&map, path, NULL), MRD_OK);
    struct timespec times[2] = {{1, 0}, {1, 5}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(mrd__map_check(&map, NULL), MRD_ERR_IO);
    unlink(path);
    assert_int_equal(mrd__map_check(&map, &error), MRD_ERR_NOT_FOUND);
    mrd__map_close(&map);
}

static void write_pipe(void *ctx, uint32_t worker)
{
    if (worker == 0) {
        mrd__map *map = ctx;
        mrd_error error = {0};
        if (mrd__map_open(map, in_folder("pipe"), &error) != MRD_OK) fail_msg("%s", error.message);
        return;
    }
    char chunk[1000];
    memset(chunk, 'p', sizeof chunk);
    mrd__buf path = {0};
    mrd__buf_printf(&path, "%s/pipe", folder);
    int fd = open(path.data, O_WRONLY);
    for (int i = 0; i < 3000; i++) {
        if (write(fd, chunk, sizeof chunk) != sizeof chunk) break;
    }
    close(fd);
    mrd__buf_reset(&path);
}

/* A pipe is read whole, grows past its first reservation, and has the same slack. */
static void test_map_pipe(void **state)
{
    (void)state;
    const char *path = in_folder("pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    mrd__map map = {0};
    mrd__parallel(2, write_pipe, &map);
    assert_int_equal(map.size, 3000000);
    for (size_t i = 0; i < map.size; i++)
        assert_int_equal(map.data[i], 'p');
    for (size_t n = 0; n < MRD__MAP_SLACK; n++)
        assert_int_equal(map.data[map.size + n], 0);
    assert_int_equal(mrd__map_check(&map, NULL), MRD_OK);
    mrd__map_close(&map);
    unlink(path);
    assert_int_equal(mrd__map_open(&map, "/proc/self/stat", NULL), MRD_OK); /* said to be empty */
    assert_true(map.size > 10);
    mrd__map_close(&map);
}

static void test_map_fails(void **state)
{
    (void)state;
    mrd_error error = {0};
    mrd__map map = {.size = 77};
    assert_int_equal(mrd__map_open(&map, in_folder("none"), &error), MRD_ERR_NOT_FOUND);
    assert_string_equal(error.code, "no_such_file");
    assert_string_equal(error.file, in_folder("none"));
    assert_int_equal(mrd__map_open(&map, folder, &error), MRD_ERR_IO);
    assert_string_equal(error.code, "is_folder");
    assert_int_equal(map.size, 77);
}

static void test_files(void **state)
{
    (void)state;
    const char *path = in_folder("file");
    mrd_error error = {0};
    mrd__buf buf = {0};
    mrd__buf data = {0};
    for (int i = 0; i < 300000; i++)
        mrd__buf_int(&data, i);
    assert_false(mrd__file_exists(path));
    assert_int_equal(mrd__file_write_atomic(path, data.data, data.size, &error), MRD_OK);
    assert_true(mrd__file_exists(path));
    mrd__buf_text(&buf, "+");
    assert_int_equal(mrd__file_read(&buf, path, data.size, &error), MRD_OK);
    assert_int_equal(buf.size, data.size + 1);
    assert_memory_equal(buf.data + 1, data.data, data.size);
    assert_int_equal(buf.data[buf.size], '\0');
    mrd__buf_clear(&buf);
    mrd__buf_text(&buf, "+");
    assert_int_equal(mrd__file_read(&buf, path, data.size - 1, &error), MRD_ERR_LIMIT);
    assert_int_equal(error.limit, data.size - 1);
    assert_string_equal(buf.data, "+");
    assert_int_equal(mrd__file_read(&buf, path, 0, &error), MRD_ERR_LIMIT);
    assert_int_equal(mrd__file_read(&buf, in_folder("no"), 9, &error), MRD_ERR_NOT_FOUND);
    assert_int_equal(mrd__file_read(&buf, folder, 9, &error), MRD_ERR_IO);
    char head[16];
    size_t got = 0;
    assert_int_equal(mrd__file_head(path, head, sizeof head, &got, &error), MRD_OK);
    assert_int_equal(got, 16);
    assert_memory_equal(head, "0123456789101112", 16);
    const char *copy = in_folder("copy");
    assert_int_equal(mrd__file_copy_atomic(path, copy, &error), MRD_OK);
    mrd__buf_clear(&buf);
    assert_int_equal(mrd__file_read(&buf, copy, SIZE_MAX / 2, &error), MRD_OK);
    assert_int_equal(buf.size, data.size);
    assert_memory_equal(buf.data, data.data, data.size);
    assert_int_equal(mrd__file_write_atomic(copy, "ab", 2, &error), MRD_OK); /* replaces */
    assert_int_equal(mrd__file_head(copy, head, sizeof head, &got, &error), MRD_OK);
    assert_int_equal(got, 2);
    unlink(path);
    unlink(copy);
    mrd__buf_reset(&buf);
    mrd__buf_reset(&data);
}

/* A failed write leaves the old file and nothing beside it (the folder is removed at the end). */
static void test_write_fails(void **state)
{
    (void)state;
    mrd_error error = {0};
    const char *path = in_folder("taken");
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(mrd__file_write_atomic(path, "x", 1, &error), MRD_ERR_IO);
    assert_string_equal(error.file, path);
    assert_int_equal(mrd__file_copy_atomic(in_folder("no"), path, &error), MRD_ERR_NOT_FOUND);
    assert_int_equal(mrd__file_copy_atomic("/proc/self/stat", path, &error), MRD_ERR_IO);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mrd__file_write_atomic(in_folder("no/x"), "x", 1, &error), MRD_ERR_NOT_FOUND);
}

static void test_make_folders(void **state)
{
    (void)state;
    mrd_error error = {0};
    assert_int_equal(mrd__make_folders(in_folder("a/b//c/"), &error), MRD_OK);
    assert_int_equal(mrd__make_folders(in_folder("a/b/c"), &error), MRD_OK);
    assert_true(mrd__file_exists(in_folder("a/b/c")));
    assert_int_equal(mrd__file_write_atomic(in_folder("a/f"), "", 0, &error), MRD_OK);
    assert_int_equal(mrd__make_folders(in_folder("a/f/g"), &error), MRD_ERR_IO);
    unlink(in_folder("a/f"));
    rmdir(in_folder("a/b/c"));
    rmdir(in_folder("a/b"));
    rmdir(in_folder("a"));
}

typedef struct counts {
    atomic_uint calls[64];
    atomic_uint total;
    uint64_t plain[64]; /* written by one worker, read after the join: a race if that fails */
} counts;

static void count_worker(void *ctx, uint32_t worker)
{
    counts *c = ctx;
    atomic_fetch_add(&c->calls[worker], 1);
    c->plain[worker] = worker + 1;
}

static void test_parallel(void **state)
{
    (void)state;
    for (int round = 0; round < 500; round++) {
        counts c = {0};
        uint32_t workers = 1 + (uint32_t)round % 9;
        mrd__parallel(workers, count_worker, &c);
        for (uint32_t i = 0; i < 64; i++) {
            assert_int_equal(c.calls[i], i < workers);
            assert_int_equal(c.plain[i], i < workers ? i + 1 : 0);
        }
    }
    counts c = {0};
    mrd__parallel(64, count_worker, &c);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(c.calls[i], 1);
}

static void nested_body(void *ctx, uint32_t worker)
{
    (void)worker;
    counts *c = ctx;
    counts inner = {0};
    mrd__parallel(3, count_worker, &inner);
    atomic_fetch_add(&c->total, inner.calls[0] + inner.calls[1] + inner.calls[2]);
}

/* Nested and more than the pool may have: the caller does what is left. */
static void test_parallel_nested(void **state)
{
    (void)state;
    counts c = {0};
    mrd__parallel(200, nested_body, &c);
    assert_int_equal(c.total, 600);
}

static void count_index(void *ctx, size_t index, uint32_t worker)
{
    counts *c = ctx;
    assert_true(worker < 4);
    c->plain[index] += index;
    atomic_fetch_add(&c->calls[index], 1);
}

static void test_parallel_for(void **state)
{
    (void)state;
    for (size_t count = 0; count <= 64; count++) {
        counts c = {0};
        mrd__parallel_for(1 + (uint32_t)count % 4, count, count_index, &c);
        for (size_t i = 0; i < 64; i++) {
            assert_int_equal(c.calls[i], i < count);
            assert_int_equal(c.plain[i], i < count ? i : 0);
        }
    }
}

static void test_clocks(void **state)
{
    (void)state;
    uint64_t first = mrd__monotonic_ns();
    assert_true(mrd__monotonic_ns() >= first);
    assert_true(mrd__realtime_ns() > 1577836800000000000); /* after 2020 */
    assert_true(mrd__cores() >= 1);
    unsigned char a[32] = {0};
    unsigned char b[32] = {0};
    mrd__random_bytes(a, sizeof a);
    mrd__random_bytes(b, sizeof b);
    assert_memory_not_equal(a, b, sizeof a);
    uint64_t resident = 0;
    uint64_t peak = 0;
    mrd__process_memory(&resident, &peak);
    assert_true(resident > 100000 && peak >= resident);
    mrd__process_memory(NULL, NULL);
}

static void test_rng(void **state)
{
    (void)state;
    mrd__rng rng = {1234567};
    assert_true(mrd__rng_next(&rng) == 6457827717110365317ull); /* splitmix64's published values */
    assert_true(mrd__rng_next(&rng) == 3203168211198807973ull);
    for (int i = 0; i < 1000; i++) {
        assert_true(mrd__rng_below(&rng, 10) < 10);
        double unit = mrd__rng_unit(&rng);
        assert_true(unit >= 0 && unit < 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map_sizes),       cmocka_unit_test(test_map_changed),
        cmocka_unit_test(test_map_pipe),        cmocka_unit_test(test_map_fails),
        cmocka_unit_test(test_files),           cmocka_unit_test(test_write_fails),
        cmocka_unit_test(test_make_folders),    cmocka_unit_test(test_parallel),
        cmocka_unit_test(test_parallel_nested), cmocka_unit_test(test_parallel_for),
        cmocka_unit_test(test_clocks),          cmocka_unit_test(test_rng),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
