/* The writer's own promises: strings, threads, chunks taken back, owned text, losses. */
#include "model/args.h"

#include "base/os.h"
#include "model/unit.h"

#include <stdio.h>
#include <string.h>

static mrd__ident number(int64_t value)
{
    return (mrd__ident){.kind = MRD__IDENT_NUMBER, .number = value};
}

static uint32_t intern(mrd__shard *shard, const char *text, uint64_t position)
{
    return mrd__shard_string(shard, text, strlen(text), position);
}

typedef struct fixture {
    mrd__writer *writer;
    mrd__shard *shard;
} fixture;

static fixture begin(void)
{
    fixture f = {.writer = mrd__writer_create()};
    f.shard =
        mrd__writer_shard(f.writer, mrd__writer_add_file(f.writer, "f", "chrome_json", 0, NULL));
    return f;
}

static void test_strings(void **state)
{
    (void)state;
    fixture f = begin();
    assert_int_equal(mrd__shard_string(f.shard, "", 0, 1), 0);
    char text[64];
    /* Every length around the limits of the short form, and all distinct by one byte. */
    uint32_t ids[40][2];
    for (size_t size = 1; size < 40; size++) {
        memset(text, 'x', size);
        ids[size][0] = mrd__shard_string(f.shard, text, size, size);
        text[size / 2] = 'y';
        ids[size][1] = mrd__shard_string(f.shard, text, size, size);
        assert_int_not_equal(ids[size][0], ids[size][1]);
        assert_true(ids[size][0] != 0 && ids[size][1] != 0);
    }
    for (size_t size = 1; size < 40; size++) {
        memset(text, 'x', size);
        assert_int_equal(mrd__shard_string(f.shard, text, size, 1000), ids[size][0]);
        mrd__str back = mrd__shard_text(f.shard, ids[size][0]);
        assert_int_equal(back.size, size);
        assert_memory_equal(back.data, text, size);
    }
    /* Zero bytes are bytes. */
    assert_int_not_equal(mrd__shard_string(f.shard, "\0a", 2, 1),
                         mrd__shard_string(f.shard, "\0a\0", 3, 1));
    mrd__writer_destroy(&f.writer);
    assert_null(f.writer);
}

static void test_many_strings(void **state)
{
    (void)state;
    fixture f = begin();
    enum {
        MANY = 20000
    };
    char text[32];
    static uint32_t ids[MANY];
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < MANY; i++) {
            int size = snprintf(text, sizeof text, i % 2 != 0 ? "%u" : "a longer name %u", i);
            uint32_t id = mrd__shard_string(f.shard, text, (size_t)size, i);
            if (round == 0) ids[i] = id;
            assert_int_equal(id, ids[i]);
        }
    }
    assert_int_equal(f.shard->pool.entries.count, MANY + 1);
    mrd__writer_destroy(&f.writer);
}

static void test_threads(void **state)
{
    (void)state;
    fixture f = begin();
    mrd__ident none = {.kind = MRD__IDENT_NONE};
    uint32_t a = mrd__shard_thread(f.shard, number(1), number(2));
    uint32_t b = mrd__shard_thread(f.shard, number(1), none);
    uint32_t c = mrd__shard_thread(f.shard, none, number(2));
    mrd__ident text = {.kind = MRD__IDENT_TEXT, .text = intern(f.shard, "2", 1)};
    uint32_t d = mrd__shard_thread(f.shard, number(1), text);
    assert_true(a != b && a != c && a != d && b != c && b != d && c != d);
    /* Members that the kind does not use make no difference. */
    mrd__ident stained = {.kind = MRD__IDENT_NUMBER, .text = 99, .number = 2};
    assert_int_equal(mrd__shard_thread(f.shard, number(1), stained), a);
    for (int64_t i = 0; i < 5000; i++)
        mrd__shard_thread(f.shard, number(i % 7), number(i));
    assert_int_equal(mrd__shard_thread(f.shard, number(1), number(2)), a);
    assert_int_equal(mrd__shard_thread(f.shard, number(1), none), b);
    mrd__writer_destroy(&f.writer);
}

static void test_discard(void **state)
{
    (void)state;
    fixture f = begin();
    mrd__shard_chunk(f.shard, 1);
    uint32_t kept = intern(f.shard, "kept", 10);
    for (int i = 0; i < 10; i++)
        mrd__shard_push(f.shard)->ts = i;
    mrd__shard_side(f.shard, (mrd__side){.id = kept});
    mrd__shard_own_args(f.shard, "{}", 2);
    mrd__shard_count(f.shard, 'X');
    mrd__shard_chunk(f.shard, 2);
    /* More than a block of facts and of text, then everything back. */
    static char big[200000];
    memset(big, ' ', sizeof big);
    for (size_t i = 0; i < MRD__FACT_BLOCK * 2; i++)
        mrd__shard_push(f.shard)->ts = 7;
    uint32_t lost = intern(f.shard, "lost", 20);
    intern(f.shard, "kept", 21);
    mrd__shard_side(f.shard, (mrd__side){.id = lost});
    mrd__shard_own_args(f.shard, big, sizeof big);
    mrd__shard_count(f.shard, 'B');
    mrd__shard_loss(f.shard, MRD__LOSS_BAD_EVENT, 0, 1, 5, "x", 1);
    mrd__shard_metadata(f.shard, MRD__STR("k"), MRD__STR("v"), 0);
    mrd__shard_discard(f.shard);
    assert_int_equal(mrd__shard_count_facts(f.shard), 10);
    assert_int_equal(f.shard->side_count, 1);
    assert_int_equal(f.shard->blobs.count, 1);
    assert_int_equal(f.shard->metadata.count, 0);
    assert_int_equal(f.shard->pool.entries.data[lost].position, MRD__POOL_UNUSED);
    assert_int_equal(f.shard->pool.entries.data[kept].position, 10);
    /* A string comes back to life with its next use, and dies again with that chunk. */
    assert_int_equal(intern(f.shard, "lost", 30), lost);
    assert_int_equal(f.shard->pool.entries.data[lost].position, 30);
    mrd__shard_discard(f.shard);
    assert_int_equal(f.shard->pool.entries.data[lost].position, MRD__POOL_UNUSED);
    mrd__fact *fresh = mrd__shard_push(f.shard);
    assert_int_equal(fresh->ts, 0);
    mrd__writer_finish(f.writer);
    assert_int_equal(f.shard->chunks.count, 2);
    assert_int_equal(f.shard->chunks.data[1].end - f.shard->chunks.data[1].first, 1);
    assert_int_equal(f.shard->phases['X'], 1);
    assert_int_equal(f.shard->phases['B'], 0);
    assert_int_equal(f.shard->losses.count, 0);
    mrd__writer_destroy(&f.writer);
}

/* Three closed chunks and an open one; the second and all behind it go. */
static void test_discard_from(void **state)
{
    (void)state;
    fixture f = begin();
    mrd__shard_keep_history(f.shard);
    uint32_t names[4];
    static const char *const texts[] = {"zero", "one", "two", "three"};
    for (uint64_t chunk = 0; chunk < 4; chunk++) {
        mrd__shard_chunk(f.shard, 10 + chunk);
        names[chunk] = intern(f.shard, texts[chunk], 100 * chunk);
        intern(f.shard, "everywhere", 100 * chunk + 1);
        for (size_t i = 0; i < MRD__FACT_BLOCK; i++)
            mrd__shard_push(f.shard)->ts = (int64_t)chunk;
        mrd__shard_side(f.shard, (mrd__side){.id = names[chunk]});
        mrd__shard_own_args(f.shard, "{}", 2);
        mrd__shard_count(f.shard, 'X');
        mrd__shard_loss(f.shard, MRD__LOSS_BAD_EVENT, 0, 1, (int64_t)chunk, "x", 1);
        mrd__shard_metadata(f.shard, MRD__STR("k"), MRD__STR("v"), 0);
    }
    mrd__shard_discard_from(f.shard, 11, 100);
    mrd__writer_finish(f.writer);
    assert_int_equal(mrd__shard_count_facts(f.shard), MRD__FACT_BLOCK);
    assert_int_equal(f.shard->chunks.count, 1);
    assert_int_equal(f.shard->chunks.data[0].order, 10);
    assert_int_equal(f.shard->chunks.data[0].end, MRD__FACT_BLOCK);
    assert_int_equal(f.shard->side_count, 1);
    assert_int_equal(f.shard->metadata.count, 1);
    assert_int_equal(f.shard->phases['X'], 1);
    assert_int_equal(f.shard->losses.count, 1);
    assert_int_equal(f.shard->losses.data[0].count, 1);
    assert_int_equal(f.shard->pool.entries.data[names[0]].position, 0);
    for (int chunk = 1; chunk < 4; chunk++)
        assert_int_equal(f.shard->pool.entries.data[names[chunk]].position, MRD__POOL_UNUSED);
    uint32_t everywhere = intern(f.shard, "everywhere", 1000);
    assert_int_equal(f.shard->pool.entries.data[everywhere].position, 1);
    mrd__writer_destroy(&f.writer);
}

static void test_losses(void **state)
{
    (void)state;
    mrd__loss_vec list = {0};
    mrd__loss loss = {.id = MRD__LOSS_BAD_EVENT, .count = 1, .offset = 50};
    mrd__loss_set_excerpt(&loss, "later", 5);
    mrd__loss_merge(&list, &loss);
    loss.offset = -1;
    mrd__loss_set_excerpt(&loss, "nowhere", 7);
    mrd__loss_merge(&list, &loss);
    loss.offset = 7;
    mrd__loss_set_excerpt(&loss, "first", 5);
    mrd__loss_merge(&list, &loss);
    loss.letter = 'q';
    mrd__loss_merge(&list, &loss);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.data[0].count, 3);
    assert_int_equal(list.data[0].offset, 7);
    assert_string_equal(list.data[0].excerpt, "first");
    mrd__vec_reset(&list);
    /* Cut at a whole character, bad bytes replaced. */
    char text[300];
    for (size_t i = 0; i < sizeof text; i += 3)
        memcpy(text + i, "\xe6\x97\xb6", 3);
    mrd__loss_set_excerpt(&loss, text + 1, sizeof text - 1);
    assert_true(strlen(loss.excerpt) <= MRD__LOSS_EXCERPT);
    assert_true(strlen(loss.excerpt) > MRD__LOSS_EXCERPT - 3);
    assert_true(mrd__utf8_valid(mrd__str_of(loss.excerpt)));
}

static void merge(const char *first, const char *second, const char *want)
{
    mrd__buf out = {0};
    mrd__args_merge(&out, mrd__str_of(first), mrd__str_of(second));
    assert_string_equal(out.data, want);
    mrd__buf_reset(&out);
}

static void test_args(void **state)
{
    (void)state;
    merge("{}", "{}", "{}");
    merge("{\"a\": 1}", "{}", "{\"a\": 1}");
    merge("{\"a\": 1, \"k\": \"b\"}", "{\"k\": \"e\", \"z\": 2}",
          "{\"a\": 1, \"k\": \"e\", \"z\": 2}");
    merge("{ \"a\" : {\"x\": [1, \"}\"]} }", "{\"b\":NaN}",
          "{\"a\" : {\"x\": [1, \"}\"]}, \"b\":NaN}");
    /* The same key, once escaped. */
    merge("{\"\\u0061\": 1}", "{\"a\": 2}", "{\"a\": 2}");
    char text[] = "xx{\"a\": \"{\\\"\"} , 5";
    mrd__text_blob blob = {.data = text, .size = sizeof text};
    mrd__args_room room = {NULL, 0, &blob, 1};
    mrd__str got = mrd__args_text(&room, mrd__args_make(MRD__ARGS_BLOB, 3));
    assert_true(mrd__str_is(got, "{\"a\": \"{\\\"\"}"));
    assert_int_equal(mrd__args_text(&room, mrd__args_make(MRD__ARGS_BLOB, 1)).size, 0);
    assert_int_equal(mrd__args_text(&room, mrd__args_make(MRD__ARGS_BLOB, 900)).size, 0);
    assert_int_equal(mrd__args_text(&room, 0).size, 0);
}

static void test_names(void **state)
{
    (void)state;
    for (int id = 0; id < MRD__LOSS_COUNT; id++) {
        const mrd__loss_info *info = mrd__loss_info_of((mrd__loss_id)id);
        assert_true(strlen(info->name) > 0 && strlen(info->advice) > 0);
        for (int other = 0; other < id; other++)
            assert_string_not_equal(info->name, mrd__loss_info_of((mrd__loss_id)other)->name);
    }
    assert_string_equal(mrd__severity_name(MRD__DATA_LOSS), "data_loss");
    assert_string_equal(mrd__track_kind_name(MRD__TRACK_ASYNC), "async");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strings),      cmocka_unit_test(test_many_strings),
        cmocka_unit_test(test_threads),      cmocka_unit_test(test_discard),
        cmocka_unit_test(test_discard_from), cmocka_unit_test(test_losses),
        cmocka_unit_test(test_args),         cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
