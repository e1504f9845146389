/* Pairing of event records (spec event-trace section 2) and all that windows need of them. */
#ifndef MRD_PAIRING_EVENT_PAIRS_H
#define MRD_PAIRING_EVENT_PAIRS_H

#include "model/events.h"

/* Fill the derived part of events: intervals with their rows, anomalies, unclosed marks, blocks,
 * the pyramid of counters. The raw part, start_ns and end_ns (the simulation end) are set. Once for
 * each trace. Keys are spread over workers threads; the result does not depend on them. */
void mrd__events_pair(mrd__events *events, uint32_t workers);

#endif
