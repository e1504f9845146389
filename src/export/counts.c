#include "export/counts.h"
#include "base/error.h"
#include "export/tables.h"
#include "model/events.h"

mrd__counts mrd__counts_of(const mrd__store *store)
{
    mrd__counts counts = {.process = store->process_count,
                          .thread = store->thread_count,
                          .track = store->track_count,
                          .slice = store->slices.count,
                          .instant = store->instants.count,
                          .counter = store->counters.count,
                          .flow = store->flow_count};
    for (uint64_t i = 0; i < store->slices.count; i++)
        counts.unclosed += store->slices.flags[i] & MRD__SLICE_UNCLOSED;
    const mrd__events *events = store->events;
    if (events == NULL) return counts;
    counts.event = events->count;
    counts.slice += events->intervals.count;
    for (uint32_t row = 0; row < events->intervals.row_count; row++)
        counts.unclosed += events->interval_unclosed[row] != 0;
    for (size_t k = 0; k < events->key_count; k++) {
        if (events->keys[k].form == MRD__FORM_COUNTER) counts.counter += events->keys[k].count;
        if (events->keys[k].form == MRD__FORM_INSTANT) counts.instant += events->keys[k].count;
    }
    return counts;
}

void mrd__counts_json(mrd__buf *out, const mrd__counts *counts)
{
    const struct {
        const char *name;
        uint64_t value;
    } members[] = {
        {"process", counts->process}, {"thread", counts->thread},     {"track", counts->track},
        {"slice", counts->slice},     {"unclosed", counts->unclosed}, {"instant", counts->instant},
        {"counter", counts->counter}, {"flow", counts->flow},         {"event", counts->event},
    };
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        mrd__buf_printf(out, "%s\"%s\":", i == 0 ? "{" : ",", members[i].name);
        mrd__buf_uint(out, members[i].value);
    }
    mrd__buf_char(out, '}');
}

void mrd__losses_json(mrd__buf *out, const mrd__store *store)
{
    mrd__buf rows = {0};
    mrd_sink sink = mrd__buf_sink(&rows);
    mrd__plain *plain = mrd__new(mrd__plain);
    mrd__buf_char(out, '[');
    for (size_t i = 0; i < store->loss_count; i++) {
        const mrd__loss *loss = &store->losses[i];
        mrd__buf_clear(&rows);
        mrd__plain_begin(plain, MRD__LOSS_COLUMNS, MRD_FORMAT_JSON, &sink);
        mrd__dump_loss_cells(store, loss, plain);
        /* A sink over a buffer does not fail. */
        mrd_status status = mrd__plain_row(plain, NULL);
        status = mrd__plain_finish(plain, status, NULL);
        if (status != MRD_OK || rows.size < 2) continue;
        if (i > 0) mrd__buf_char(out, ',');
        mrd__buf_add(out, rows.data, rows.size - 2); /* without brace and line feed */
        if (loss->worst_ns != 0) {
            mrd__buf_text(out, ",\"worst_ns\":");
            mrd__buf_int(out, loss->worst_ns);
        }
        mrd__buf_char(out, '}');
    }
    mrd__buf_char(out, ']');
    mrd__free(plain);
    mrd__buf_reset(&rows);
}
