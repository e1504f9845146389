/* The parameters of windows: the first byte of the input picks format, kind of body and kind of
 * times, the rest is a query string or a JSON body. It is asked of a small trace of slices and of a
 * small trace of event records. What comes back must be an answer or a named error, and JSON must
 * be JSON. */
#include "base/assert.h"
#include "base/json.h"
#include "model/events.h"
#include "open/open.h"
#include "pairing/event_pairs.h"
#include "query/query.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static mrd__store *plain, *records;

static const char plain_text[] =
    "[{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":5,\"name\":\"a\",\"args\":{\"k\":7}},"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":2.25,\"dur\":1.5,\"name\":\"b,\\\"c\"},"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":4,\"dur\":0,\"name\":\"z\"},"
    "{\"ph\":\"B\",\"pid\":1,\"tid\":3,\"ts\":3,\"name\":\"open\"},"
    "{\"ph\":\"i\",\"pid\":1,\"tid\":2,\"ts\":2,\"name\":\"mark\"},"
    "{\"ph\":\"C\",\"pid\":1,\"ts\":2,\"name\":\"c\",\"args\":{\"v\":3,\"w\":-1}},"
    "{\"ph\":\"C\",\"pid\":1,\"ts\":5,\"name\":\"c\",\"args\":{\"v\":0}}]";

static mrd__store *open_plain(void)
{
    char path[] = "/tmp/mrd-fuzz-window-XXXXXX";
    const char *paths[] = {path};
    mrd__store *store = NULL;
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, plain_text, sizeof plain_text - 1) < 0) abort();
    close(fd);
    if (mrd__open(paths, 1, NULL, &store, NULL) != MRD_OK) abort();
    unlink(path);
    return store;
}

/* A busy link with an anomaly, a counter and hops: ten records, grouped by key as events.h says. */
static mrd__events *make_records(void)
{
    static const double times[] = {0, 2, 3, 5, 7, 1, 4, 6, 2.5, 8};
    static const double values[] = {2, 0, 2, 9, 0, 1, 2, 0, 40, 41};
    static const uint32_t ranks[] = {0, 2, 4, 6, 8, 1, 5, 7, 3, 9};
    static const uint32_t closers[] = {0, 1, 0, 0, 1, 0, 0, 0, 0, 0};
    static const mrd__event_key keys[] = {
        {.component = 0,
         .form = MRD__FORM_INTERVAL,
         .category = MRD__CAT_LINK_BUSY,
         .closer = MRD__CAT_LINK_IDLE,
         .count = 5},
        {.component = 1,
         .form = MRD__FORM_COUNTER,
         .category = MRD__CAT_OSTD_CHANGE,
         .closer = MRD__CAT_OSTD_CHANGE,
         .first = 5,
         .count = 3,
         .row = UINT32_MAX},
        {.component = 2,
         .form = MRD__FORM_INSTANT,
         .category = MRD__CAT_HOP_ARRIVE,
         .closer = MRD__CAT_HOP_ARRIVE,
         .first = 8,
         .count = 2,
         .row = UINT32_MAX},
    };
    static const char *const names[MRD__CAT_COUNT] = {"link_busy",      "link_idle",
                                                      "thread_blocked", "thread_unblocked",
                                                      "ostd_change",    "hop_arrive"};
    static mrd__str components[] = {
        {"link_a_b_req", 12}, {"cdma_chip0_unit0", 16}, {"flow_a,b", 8}};
    mrd__events *events = mrd__new(mrd__events);
    events->count = 10;
    events->time = mrd__new_array(double, 10);
    events->value = mrd__new_array(double, 10);
    events->rank = mrd__new_array(uint32_t, 10);
    for (int i = 0; i < 10; i++) {
        events->time[i] = times[i];
        events->value[i] = values[i];
        events->rank[i] = ranks[i] | (closers[i] ? MRD__EVENT_CLOSER : 0);
    }
    events->keys = mrd__new_array(mrd__event_key, 3);
    memcpy(events->keys, keys, sizeof keys);
    events->key_count = events->component_count = 3;
    events->components = components;
    memcpy(events->category_names, names, sizeof names);
    events->end_ns = 9;
    mrd__events_pair(events, 1);
    return events;
}

static void open_once(void)
{
    if (plain != NULL) return;
    plain = open_plain();
    records = mrd__new(mrd__store);
    records->events = make_records();
    records->end_ns = 9;
}

static void check_json(const mrd__buf *text)
{
    mrd__json json;
    mrd__json_token token;
    mrd__json_init(&json, text->data, text->size);
    do {
        token = mrd__json_next(&json);
        mrd__assert(token.type != MRD__JSON_ERROR && !token.nonstandard);
    } while (token.type != MRD__JSON_END);
    mrd__assert(mrd__utf8_valid((mrd__str){text->data, text->size}));
}

static void check(mrd_status status, const mrd__buf *answer, mrd_format format,
                  const mrd_error *error)
{
    if (status != MRD_OK) {
        mrd__assert(error->status == status && error->code[0] != '\0');
        mrd__assert(error->message[0] != '\0' && answer->size == 0);
        mrd__assert(mrd__utf8_valid(mrd__str_of(error->message)));
    } else if (format == MRD_FORMAT_JSON) {
        check_json(answer);
    } else {
        mrd__assert(answer->size > 0);
    }
}

static void ask(const mrd_params *params, uint8_t pick)
{
    static const mrd_format formats[] = {MRD_FORMAT_JSON, MRD_FORMAT_CSV, MRD_FORMAT_ARROW};
    mrd_format format = formats[pick % 3];
    for (int door = 0; door < 2; door++) {
        mrd__buf answer = {0};
        mrd_sink sink = mrd__buf_sink(&answer);
        mrd_error error = {0};
        mrd_status status = door == 0
                                ? mrd__query_window(plain, params, pick & 64, format, &sink, &error)
                                : mrd__query_event_window(records, params, format, &sink, &error);
        check(status, &answer, format, &error);
        mrd__buf_reset(&answer);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    open_once();
    if (size == 0) return 0;
    uint8_t pick = data[0] % 128;
    const char *text = (const char *)data + 1;
    mrd_params *params = mrd_params_create();
    mrd_error error = {0};
    mrd_status status = data[0] & 128 ? mrd_params_add_json(params, text, size - 1, &error)
                                      : mrd_params_add_query(params, text, size - 1, &error);
    if (status == MRD_OK)
        ask(params, pick);
    else
        mrd__assert(strcmp(error.code, "bad_parameter") == 0 && error.message[0] != '\0');
    mrd_params_destroy(&params);
    return 0;
}
