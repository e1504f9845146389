/* Pairing as the contract says it, event by event: what the fast paths are held to. */
#ifndef MRD_TEST_EVENT_KIT_MACHINE_H
#define MRD_TEST_EVENT_KIT_MACHINE_H

#include "event_kit/events.h"

typedef struct machine_interval {
    double start, end;
    bool unclosed, left_truncated, right_truncated;
} machine_interval;

/* Intervals and anomalies of one key. */
typedef struct machine {
    machine_interval *intervals; /* as many as rows at most; owned */
    size_t count;
    uint64_t anomalies;
    double first_anomaly;
    bool open;
    double since;
} machine;

static inline bool machine_takes(const kit_row *row, kit_key key)
{
    return kit_opener(row->category) == key.category && strcmp(row->component, key.component) == 0;
}

static inline void machine_step(machine *m, const kit_row *row)
{
    bool closer = kit_closes(row->category);
    if (closer != m->open) {
        if (m->anomalies++ == 0) m->first_anomaly = row->time;
    } else if (closer) {
        m->intervals[m->count++] = (machine_interval){m->since, row->time, false, false, false};
        m->open = false;
    } else {
        m->since = row->time;
        m->open = true;
    }
}

/* The whole file. */
static inline machine machine_run(const kit_rows *rows, kit_key key)
{
    machine m = {.intervals = mrd__new_array(machine_interval, rows->count + 1)};
    for (size_t i = 0; i < rows->count; i++) {
        if (machine_takes(&rows->data[i], key)) machine_step(&m, &rows->data[i]);
    }
    if (m.open) {
        m.intervals[m.count++] = (machine_interval){m.since, kit_sim_end(rows), true, false, false};
    }
    return m;
}

#endif
