#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "unit.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static void test_heap(void **state)
{
    (void)state;
    void *empty = mrd__alloc(0);
    assert_non_null(empty);
    mrd__free(empty);
    mrd__free(NULL);
    empty = mrd__calloc(0, 8);
    assert_non_null(empty);
    mrd__free(empty);
    uint32_t *zeros = mrd__new_array(uint32_t, 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(zeros[i], 0);
    mrd__free(zeros);
    char *copy = mrd__strndup("abcdef", 3);
    assert_string_equal(copy, "abc");
    mrd__free(copy);
    copy = mrd__strndup(NULL, 0);
    assert_string_equal(copy, "");
    mrd__free(copy);
}

static void test_vec(void **state)
{
    (void)state;
    MRD__VEC(uint64_t) vec = {0};
    for (uint64_t i = 0; i < 10000; i++)
        mrd__vec_push(&vec, i * i);
    assert_int_equal(vec.count, 10000);
    assert_true(vec.capacity >= 10000 && vec.capacity < 20000);
    for (uint64_t i = 0; i < 10000; i++)
        assert_int_equal(vec.data[i], i * i);
    size_t capacity = vec.capacity;
    mrd__vec_reserve(&vec, 5);
    assert_int_equal(vec.capacity, capacity);
    mrd__vec_reserve(&vec, 100000);
    assert_true(vec.capacity >= 100000);
    mrd__vec_reset(&vec);
    assert_null(vec.data);
    assert_int_equal(vec.count + vec.capacity, 0);
}

static void test_pages(void **state)
{
    (void)state;
    assert_null(mrd__pages_alloc(0));
    mrd__pages_free(NULL, 0);
    size_t size = 1 << 20;
    unsigned char *block = mrd__pages_alloc(size);
    for (size_t i = 0; i < size; i += 4096)
        assert_int_equal(block[i], 0);
    memset(block, 7, size);
    mrd__pages_free(block, size);
    /* Untouched pages cost nothing: more than most machines have. */
    char *huge = mrd__pages_alloc((size_t)1 << 36);
    huge[(size_t)1 << 35] = 1;
    mrd__pages_free(huge, (size_t)1 << 36);
}

/* What is given is cut into what is taken, whatever the sizes, and no two ever overlap. */
static void test_pages_again(void **state)
{
    (void)state;
    assert_null(mrd__pages_take(0));
    mrd__pages_give(NULL, 0);
    mrd__pages_keep();
    size_t whole = (size_t)116 << 20;
    char *first = mrd__pages_alloc(whole);
    memset(first, 7, whole);
    mrd__pages_give(first, whole);
    static const size_t sizes[] = {(size_t)6 << 20, 3000001, 40000, (size_t)32 << 10, 1 << 20, 1};
    char *blocks[60];
    size_t again = 0;
    for (size_t i = 0; i < 60; i++) {
        blocks[i] = mrd__pages_take(sizes[i % 6]);
        memset(blocks[i], (int)i, sizes[i % 6]);
        again += blocks[i] >= first && blocks[i] < first + whole;
    }
    assert_in_range(again, 45, 50); /* all but single bytes, as far as there is room */
    for (size_t i = 0; i < 60; i++) {
        assert_int_equal(blocks[i][0], (char)i);
        assert_int_equal(blocks[i][sizes[i % 6] - 1], (char)i);
        if (i % 2 == 0) mrd__pages_give(blocks[i], sizes[i % 6]);
    }
    for (size_t i = 1; i < 60; i += 2) {
        assert_int_equal(blocks[i][sizes[i % 6] / 2], (char)i);
        if (i % 3 == 0)
            mrd__pages_free(blocks[i], sizes[i % 6]);
        else
            mrd__pages_give(blocks[i], sizes[i % 6]);
    }
    mrd__pages_done();
    char *block = mrd__pages_take(MRD__PAGES_KEPT);
    memset(block, 1, MRD__PAGES_KEPT);
    mrd__pages_free(block, MRD__PAGES_KEPT);
}

/* What is too much to be kept goes, and not a page of what lies behind it. */
static void test_pages_trimmed(void **state)
{
    (void)state;
    size_t given = MRD__PAGES_KEPT + ((size_t)4 << 20), rest = (size_t)4 << 20;
    char *odd = mrd__pages_alloc(40000);
    char *all = mrd__pages_alloc(given + rest);
    memset(all + given, 5, rest);
    mrd__pages_keep();
    mrd__pages_give(odd, 40000);
    mrd__pages_give(all, given);
    mrd__pages_done();
    for (size_t at = 0; at < rest; at += 4096)
        assert_int_equal(all[given + at], 5);
    mrd__pages_free(all + given, rest);
}

/* Neighbours are joined again: after all parts were given in any order, the whole can be taken. */
static void test_pages_joined(void **state)
{
    (void)state;
    enum {
        PARTS = 7
    };
    size_t part = (size_t)2 << 20; /* blocks of this size are made of such */
    static const size_t order[PARTS] = {3, 0, 6, 1, 5, 2, 4};
    mrd__pages_keep();
    char *first = mrd__pages_alloc(PARTS * part);
    memset(first, 1, PARTS * part);
    for (size_t i = 0; i < PARTS; i++)
        mrd__pages_give(first + order[i] * part, part);
    char *again = mrd__pages_take(PARTS * part);
    assert_true(again <= first && first < again + PARTS * part);
    mrd__pages_free(again, PARTS * part);
    mrd__pages_done();
}

static void swap_pages(void *ctx, size_t index, uint32_t worker)
{
    (void)ctx, (void)worker;
    size_t size = 50000 + index * 7001;
    char *block = mrd__pages_take(size);
    memset(block, (int)index, size);
    for (size_t i = 0; i < size; i += 999)
        assert_int_equal(block[i], (char)index);
    mrd__pages_give(block, size);
}

/* What was made ahead of time is what the next one takes, and is made but once. */
static void test_pages_warm(void **state)
{
    (void)state;
    mrd__pages_warm();
    mrd__pages_warm();
    char *block = mrd__pages_take(MRD__PAGES_KEPT / 4);
    unsigned char there[1] = {0};
    assert_int_equal(mincore(block, 4096, there), 0);
    assert_int_equal(there[0] & 1, 1);
    mrd__pages_give(block, MRD__PAGES_KEPT / 4);
}

static void test_pages_in_threads(void **state)
{
    (void)state;
    mrd__parallel_for(4, 400, swap_pages, NULL);
}

static void test_arena(void **state)
{
    (void)state;
    mrd__arena arena = {0};
    size_t sum = 0;
    char *texts[3000];
    for (size_t i = 0; i < 3000; i++) {
        size_t size = i % 97 == 0 ? 100000 : i % 50;
        size_t align = (size_t)1 << (i % 7);
        char *block = mrd__arena_alloc(&arena, size, align);
        assert_int_equal((uintptr_t)block % align, 0);
        memset(block, 0xee, size);
        char word[32] = "word";
        word[4] = (char)('a' + i % 26);
        texts[i] = mrd__arena_text(&arena, word, 5);
        sum += size + 6;
    }
    for (size_t i = 0; i < 3000; i++) {
        assert_int_equal(strlen(texts[i]), 5);
        assert_int_equal(texts[i][4], 'a' + i % 26);
    }
    assert_int_equal(arena.total, sum);
    mrd__arena_reset(&arena);
    assert_null(arena.head);
    assert_int_equal(arena.total, 0);
    char *again = mrd__arena_alloc(&arena, 8 << 20, 4096); /* first block larger than any step */
    assert_int_equal((uintptr_t)again % 4096, 0);
    memset(again, 1, 8 << 20);
    mrd__arena_reset(&arena);
}

static void test_fail(void **state)
{
    (void)state;
    mrd_error error = {0};
    assert_int_equal(mrd__fail(NULL, MRD_ERR_LIMIT, "x", "y"), MRD_ERR_LIMIT);
    assert_int_equal(mrd__fail(&error, MRD_ERR_FORMAT, "bad_thing", "value %d\nis odd", 3),
                     MRD_ERR_FORMAT);
    assert_int_equal(error.status, MRD_ERR_FORMAT);
    assert_string_equal(error.code, "bad_thing");
    assert_string_equal(error.message, "value 3 is odd");
    assert_int_equal(error.offset, -1);
    char text[64];
    assert_string_equal(mrd_error_text(&error, text, sizeof text), "value 3 is odd");
    assert_int_equal(mrd__fail_at(&error, MRD_ERR_IO, "a.json", 17), MRD_ERR_FORMAT);
    assert_string_equal(mrd_error_text(&error, text, sizeof text),
                        "a.json:offset 17: value 3 is odd");
    mrd__fail_at(&error, MRD_ERR_IO, "b.json", 99); /* the known place stays */
    assert_string_equal(error.file, "a.json");
    assert_int_equal(error.offset, 17);
    assert_int_equal(mrd__fail_at(NULL, MRD_ERR_IO, "a", 1), MRD_ERR_IO);
    mrd__fail(&error, MRD_ERR_ARGUMENT, error.code, "in: %s", error.message); /* wraps itself */
    assert_string_equal(error.message, "in: value 3 is odd");
    assert_string_equal(error.code, "bad_thing");
    assert_string_equal(error.file, "");
    mrd__fail_at(&error, MRD_ERR_IO, "c", -1);
    assert_string_equal(mrd_error_text(&error, text, sizeof text), "c: in: value 3 is odd");
    mrd__fail_at(&error, MRD_ERR_IO, "c", 5);
    assert_int_equal(error.offset, 5);
}

static void test_fail_errno(void **state)
{
    (void)state;
    mrd_error error = {0};
    errno = EACCES;
    assert_int_equal(mrd__fail_errno(&error, "/x", "cannot open"), MRD_ERR_IO);
    assert_string_equal(error.message, "cannot open: Permission denied");
    assert_string_equal(error.file, "/x");
    errno = ENOENT;
    assert_int_equal(mrd__fail_errno(&error, "/x", "cannot open"), MRD_ERR_NOT_FOUND);
    errno = ENOENT;
    assert_int_equal(mrd__fail_errno(NULL, "/x", "cannot open"), MRD_ERR_NOT_FOUND);
}

/* Long texts are cut to fit, never inside a character. */
static void test_fail_long(void **state)
{
    (void)state;
    mrd_error error = {0};
    char name[2048];
    for (size_t shift = 0; shift < 4; shift++) {
        memset(name, 'a', shift);
        for (size_t i = shift; i + 4 < sizeof name; i += 4)
            memcpy(name + i, "\xf0\x9f\x98\x80", 4);
        name[2044] = '\0';
        mrd__fail(&error, MRD_ERR_IO, "a_code_that_is_much_longer_than_the_field_holds", "%s",
                  name);
        mrd__fail_at(&error, MRD_ERR_IO, name, 1);
        size_t length = strlen(error.message);
        assert_true(length > 1018 && length < sizeof error.message);
        assert_int_equal((length - shift) % 4, 0);
        length = strlen(error.file);
        assert_true(length > 506 && length < sizeof error.file);
        assert_int_equal((length - shift) % 4, 0);
        assert_int_equal(strlen(error.code), 31);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heap),
        cmocka_unit_test(test_vec),
        cmocka_unit_test(test_pages),
        /* while nothing is kept yet */
        cmocka_unit_test(test_pages_warm),
        cmocka_unit_test(test_pages_trimmed),
        cmocka_unit_test(test_pages_again),
        cmocka_unit_test(test_pages_joined),
        cmocka_unit_test(test_pages_in_threads),
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_fail),
        cmocka_unit_test(test_fail_errno),
        cmocka_unit_test(test_fail_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
