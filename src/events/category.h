/* The six categories of event records, a closed set (spec event-trace section 1). The numbers are
 * those of model/events.h; ingest/event_parquet checks that at compile time. */
#ifndef MRD_EVENTS_CATEGORY_H
#define MRD_EVENTS_CATEGORY_H

#include "base/text.h"

enum {
    MRD__EV_LINK_BUSY,
    MRD__EV_LINK_IDLE,
    MRD__EV_THREAD_BLOCKED,
    MRD__EV_THREAD_UNBLOCKED,
    MRD__EV_OSTD_CHANGE,
    MRD__EV_HOP_ARRIVE,
    MRD__EV_COUNT
};

/* link_busy and so on; static. */
const char *mrd__category_name(int category);
/* The category of a name, snake case or the old CamelCase (LinkBusy); -1 for any other text. */
int mrd__category_parse(mrd__str name);
/* "link_busy, link_idle, ...": what is allowed, for messages; static. */
const char *mrd__category_list(void);

#endif
