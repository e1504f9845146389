/* Statements of POST /api/query and of the page: any bytes, over a small trace, in a database as a
 * server opens it. What stands in front and behind is found without reading past the end; a
 * statement that is taken answers in valid JSON or is refused by name; none reads a file or leaves
 * one. An @ of the text is a folder with a secret in it.
 *
 *   byte 0: form of the answer, and PLACE: the text up to the first zero byte, and behind it an
 *   error message that points into it */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "base/os.h"
#include "open/open.h"
#include "own_folder.h"
#include "sql/place.h"
#include "sql/sql.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    FORMS = 4,
    PLACE = 4,
    INPUT_MAX = 4096,
    ALWAYS = 128,           /* first statements of a run: the kept ones */
    ANSWER_MAX = 1 << 20,   /* then the client goes away */
    TIME_NS = 100 * 1000000 /* of a statement */
};

static const char trace_text[] =
    "[{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":5,\"name\":\"a\",\"args\":{\"k\":7}},"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":2,\"dur\":1,\"name\":\"b\"},"
    "{\"ph\":\"i\",\"pid\":1,\"tid\":2,\"ts\":2,\"name\":\"e\"},"
    "{\"ph\":\"C\",\"pid\":1,\"ts\":2,\"name\":\"n\",\"args\":{\"v\":3}}]";
static const char secret[] = "name,dur\nthe-secret-that-no-statement-sees,1\n";

static mrd__store *store;
static mrd__sql *sql;

static void open_once(void)
{
    char trace[64], other[64];
    const char *paths[] = {trace};
    if (sql != NULL) return;
    make_own_folder();
    snprintf(trace, sizeof trace, "%s/t.json", own_folder);
    snprintf(other, sizeof other, "%s/s.csv", own_folder);
    mrd__sql_config config = {.threads = 1};
    if (mrd__file_write_atomic(trace, trace_text, sizeof trace_text - 1, NULL) != MRD_OK ||
        mrd__file_write_atomic(other, secret, sizeof secret - 1, NULL) != MRD_OK ||
        mrd__open(paths, 1, NULL, &store, NULL) != MRD_OK ||
        mrd__sql_open(store, &config, &sql, NULL) != MRD_OK)
        abort();
}

/* ---- In front, behind, and where ---- */

static void check_words(mrd__str text)
{
    mrd__buf once = {0}, twice = {0};
    if (mrd__sql_skip_includes(text) > text.size || mrd__sql_explained(text) > text.size) abort();
    mrd__buf_str(&once, text);
    mrd__sql_strip_end(&once);
    if (once.size > text.size || memcmp(once.data, text.data, once.size) != 0) abort();
    mrd__buf_add(&twice, once.data, once.size);
    mrd__sql_strip_end(&twice);
    if (twice.size != once.size) abort();
    mrd__buf_reset(&once);
    mrd__buf_reset(&twice);
}

static void check_place(const char *data, size_t size)
{
    const char *zero = size > 0 ? memchr(data, 0, size) : NULL;
    size_t text = zero != NULL ? (size_t)(zero - data) : size;
    char *message = mrd__strndup(data + text, 0);
    if (zero != NULL) {
        mrd__free(message);
        message = mrd__strndup(zero + 1, size - text - 1);
    }
    if (mrd__sql_place((mrd__str){data, text}, message) < -1) abort();
    mrd__free(message);
}

/* ---- Statements ---- */

static mrd_status take(void *ctx, const void *data, size_t size, mrd_error *error)
{
    mrd__buf *out = ctx;
    if (out->size + size > ANSWER_MAX)
        return mrd__fail(error, MRD_ERR_CANCELLED, "gone", "the client is gone");
    mrd__buf_add(out, data, size);
    return MRD_OK;
}

static void check_lines(const mrd__buf *answer)
{
    mrd__json json;
    size_t end;
    for (size_t at = 0; at < answer->size; at = end + 1) {
        const char *line = memchr(answer->data + at, '\n', answer->size - at);
        if (line == NULL) abort();
        end = (size_t)(line - answer->data);
        mrd__json_init(&json, answer->data + at, end - at);
        mrd__json_token token = mrd__json_next(&json);
        if (token.type != MRD__JSON_OBJECT || !mrd__json_skip(&json, token)) abort();
        if (mrd__json_next(&json).type != MRD__JSON_END) abort();
    }
}

static void check_folder(void)
{
    size_t count = 0;
    DIR *dir = opendir(own_folder);
    if (dir == NULL) abort();
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(dir);
    if (count != 2) abort();
}

/* A statement may hold the words itself: the fuzzer sees what they are compared with. */
static bool holds_secret(const char *text, size_t size)
{
    static const char words[] = "the-secret-that-no-statement-sees";
    return size > 0 && memmem(text, size, words, sizeof words - 1) != NULL;
}

static void run(mrd__str text, mrd__sql_format form)
{
    mrd__sql_query *query = NULL;
    mrd_error error = {.offset = -1};
    mrd__buf answer = {0};
    mrd_sink sink = {.ctx = &answer, .write = take};
    bool more = true;
    mrd_status status = mrd__sql_start(sql, text, form, TIME_NS, &query, &error);
    while (status == MRD_OK && more)
        status = mrd__sql_step(query, &sink, &more, &error);
    mrd__sql_finish(&query);
    if (status != MRD_OK && !(error.code[0] && error.message[0])) abort();
    if (status != MRD_OK && error.offset > (int64_t)text.size) abort();
    if (status == MRD_OK && form == MRD__SQL_JSON) check_lines(&answer);
    if (!holds_secret(text.data, text.size) && (holds_secret(answer.data, answer.size) ||
                                                holds_secret(error.message, strlen(error.message))))
        abort();
    check_folder();
    mrd__buf_reset(&answer);
}

/* DuckDB takes a hundred times as long as the rest. Kept inputs all go there, of those made from
 * them one in 16. */
static bool is_turn(void)
{
    static unsigned count;
    return count++ < ALWAYS || count % 16 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data + 1;
    mrd__buf whole = {0};
    open_once();
    if (size == 0 || size > INPUT_MAX) return 0;
    check_words((mrd__str){text, size - 1});
    if (data[0] & PLACE) {
        check_place(text, size - 1);
        return 0;
    }
    if (!is_turn()) return 0;
    mrd__buf_text(&whole, "");
    for (size_t i = 0; i + 1 < size; i++) {
        if (text[i] == '@')
            mrd__buf_text(&whole, own_folder);
        else
            mrd__buf_char(&whole, text[i]);
    }
    /* A block of exactly its size, so that a read past its end is seen. */
    char *exact = mrd__alloc(whole.size + 1);
    memcpy(exact, whole.data, whole.size + 1);
    run((mrd__str){exact, whole.size}, (mrd__sql_format)(data[0] % FORMS));
    mrd__free(exact);
    mrd__buf_reset(&whole);
    return 0;
}
