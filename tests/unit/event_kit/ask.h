/* Asking a window of events alone and reading the JSON answer. */
#ifndef MRD_TEST_EVENT_KIT_ASK_H
#define MRD_TEST_EVENT_KIT_ASK_H

#include "event_kit/events.h"
#include "query/query.h"

typedef struct ask_answer {
    mrd_status status;
    mrd_error error;
    mrd__buf text;
    mrd__arena arena;
    const tree *root; /* JSON answers that succeeded */
} ask_answer;

static inline ask_answer ask_format(const mrd__events *events, const char *query, mrd_format format)
{
    ask_answer answer = {.status = MRD_OK};
    mrd__store store = {.events = (mrd__events *)(uintptr_t)events};
    mrd_params *params = mrd_params_create();
    mrd_sink sink = mrd__buf_sink(&answer.text);
    answer.status = mrd_params_add_query(params, query, strlen(query), &answer.error);
    if (answer.status == MRD_OK)
        answer.status = mrd__query_event_window(&store, params, format, &sink, &answer.error);
    mrd_params_destroy(&params);
    return answer;
}

static inline ask_answer ask(const mrd__events *events, const char *query)
{
    ask_answer answer = ask_format(events, query, MRD_FORMAT_JSON);
    if (answer.status == MRD_OK) {
        answer.root = tree_parse(&answer.arena, answer.text.data, answer.text.size);
        mrd__assert(answer.root);
    }
    return answer;
}

static inline void ask_reset(ask_answer *answer)
{
    mrd__buf_reset(&answer->text);
    mrd__arena_reset(&answer->arena);
}

#endif
