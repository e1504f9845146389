/* The loop over the elements of traceEvents. Commas between elements may be missing, doubled or
 * stand before the first one and behind the last. */
#include "ingest/chrome_json/fast.h"
#include "ingest/chrome_json/limits.h"
#include "ingest/chrome_json/reader.h"

void mrd__cj_core_reset(mrd__cj_core *core)
{
    mrd__cj_out_reset(&core->out);
    mrd__cj_walk_reset(&core->walk);
}

/* The part of the text an element at `at` may take. */
static size_t window_of(size_t size, size_t at)
{
    return size - at > MRD__CJ_MAX_EVENT ? at + MRD__CJ_MAX_EVENT : size;
}

static mrd__cj_stop stop_of(mrd__cj_core *core, mrd__cj_status status, size_t size, size_t window,
                            const mrd__cj_event *event)
{
    if (status == MRD__CJ_ERROR) return MRD__CJ_BROKEN;
    if (window == size) return MRD__CJ_WANT_MORE;
    core->large_event = event != NULL;
    core->large_letter = event != NULL ? mrd__cj_letter(event) : 0;
    return MRD__CJ_TOO_LARGE;
}

/* An element that is no object. */
static mrd__cj_status skip_element(mrd__cj_core *core, const char *data, size_t window, size_t *at)
{
    mrd__cj_walk *walk = &core->walk;
    mrd__cj_walk_start(walk, data, window, *at);
    mrd__cj_status status = mrd__cj_walk_value(walk);
    if (status != MRD__CJ_OK) return status;
    mrd__str text = {data + *at, walk->at - *at};
    mrd__cj_emit_stats(&core->out, walk, core->base + *at, text);
    mrd__shard_loss(core->out.shard, MRD__LOSS_BAD_EVENT, 0, 1, (int64_t)(core->base + *at),
                    text.data, text.size);
    *at = walk->at;
    return MRD__CJ_OK;
}

mrd__cj_stop mrd__cj_read_elements(mrd__cj_core *core, const char *data, size_t size, size_t *at,
                                   size_t until)
{
    mrd__cj_event event = {0};
    for (;;) {
        /* What stands between almost any two events. */
        if (size - *at > 2 && data[*at] == ',' && data[*at + 1] == '\n') *at += 2;
        while (*at < size && (mrd__cj_space(data[*at]) || data[*at] == ','))
            ++*at;
        if (*at == size) return MRD__CJ_WANT_MORE;
        if (data[*at] == ']') {
            ++*at;
            return MRD__CJ_CLOSED;
        }
        size_t window = window_of(size, *at);
        mrd__cj_status status;
        if (data[*at] != '{') {
            status = skip_element(core, data, window, at);
            if (status != MRD__CJ_OK) return stop_of(core, status, size, window, NULL);
            continue;
        }
        if (*at >= until) return MRD__CJ_REACHED;
        if (core->fast && mrd__cj_fast_event(data + *at, &event)) {
            event.offset = core->base + *at;
            mrd__cj_emit(&core->out, &event);
            *at += event.size;
            continue;
        }
        status = mrd__cj_walk_event(&core->walk, data, window, *at, &event);
        if (status != MRD__CJ_OK) return stop_of(core, status, size, window, &event);
        event.offset = core->base + *at;
        mrd__cj_emit(&core->out, &event);
        *at += event.size;
    }
}
