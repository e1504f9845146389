/* A window over event records as asked for: parsed, defaults filled, keys chosen. Internal to
 * event_window*.c. */
#ifndef MRD_QUERY_EVENT_WINDOW_H
#define MRD_QUERY_EVENT_WINDOW_H

#include "model/events.h"
#include "query/buckets.h"
#include "query/params.h"
#include "query/table.h"

typedef struct mrd__event_choice {
    uint32_t key;
    uint32_t low, high;  /* the window's events, counted inside the key */
    bool opener, closer; /* the members whose raw rows pass; both set where the form has no pair */
} mrd__event_choice;

typedef struct mrd__event_window {
    const mrd__events *events;
    mrd_format format;
    double start, end;
    bool end_inside;  /* end was not given: events at exactly the end belong to the window */
    uint32_t buckets; /* 0: raw */
    bool minmax;
    MRD__VEC(mrd__event_choice) choices;  /* by key */
    mrd__buf snapshot, anomalies, bounds; /* JSON texts */
} mrd__event_window;

/* Opens the table of an answer with its metadata and JSON head. fields must outlive the table. */
void mrd__event_window_table(const mrd__event_window *window, mrd__table *table,
                             const mrd__arrow_field *fields, size_t field_count,
                             const mrd_sink *sink);

/* Names of the components whose bit is set, coded in their order. */
typedef struct mrd__event_names {
    const mrd__events *events;
    MRD__VEC(uint32_t) used; /* code to component */
} mrd__event_names;
/* The code of a component, ascending over calls. */
int32_t mrd__event_names_add(mrd__event_names *names, uint32_t component);
mrd__arrow_dict mrd__event_names_dict(const mrd__event_names *names);
/* All six categories, by number. */
mrd__arrow_dict mrd__event_categories_dict(const mrd__events *events);

MRD_MUST_CHECK mrd_status mrd__event_window_raw(const mrd__event_window *window,
                                                const mrd_sink *sink, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__event_window_cells(const mrd__event_window *window,
                                                  const mrd_sink *sink, mrd_error *error);

#endif
