/* Shared by the demo's loop and its actions. */
#ifndef MRD_DEMO_DEMO_H
#define MRD_DEMO_DEMO_H

#include "base/text.h"

enum {
    DEMO_ACTIONS = 64
};

struct demo;
typedef void (*demo_run)(struct demo *d, uint64_t value);

typedef struct demo_action {
    uint64_t frame, every; /* one of both; 0: not so */
    uint64_t value;
    demo_run run;
} demo_action;

typedef struct demo {
    uint64_t fps, frames, burn; /* frames 0: until asked to stop */
    uint64_t sequence, epoch, display;
    bool quiet, one_byte, no_newline, silent_end;
    demo_action actions[DEMO_ACTIONS];
    size_t count;
} demo;

/* Bytes to standard output, one at a time where asked for. */
void demo_write(const demo *d, const void *data, size_t size);
/* An adapter line; payload is JSON. Nothing when quiet. */
void demo_line(demo *d, const char *source, const char *kind, bool timed, const char *payload);
void demo_sleep_ms(uint64_t ms);
/* Use a core until that time of CLOCK_MONOTONIC. */
void demo_burn_until(uint64_t end_ns);

/* What --at and --every may name. NULL: nothing of that name. */
demo_run demo_action_named(mrd__str name);
/* All names, blanks between. Static. */
const char *demo_action_names(void);

#endif
