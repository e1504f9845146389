/* Lines through envelope, projector and report, with everything that came out kept. */
#ifndef MRD_TESTS_UNIT_SESSION_FEED_H
#define MRD_TESTS_UNIT_SESSION_FEED_H

#include "base/unit.h"
#include "session/line.h"
#include "session/registry.h"
#include "session/report.h"

typedef struct feed {
    mrd__projector *projector;
    mrd__session_report *report;
    uint64_t sequence; /* of the last line */
    uint64_t decode_errors;
    MRD__VEC(mrd__sample) samples; /* series are the projector's */
    mrd__buf domain, metrics;      /* all records: type, sequence, size, payload */
    mrd__buf texts, binary;
    mrd_error error;                  /* of the last line that did not decode */
    MRD__VEC(mrd__projector *) older; /* before the splits: their series are in samples */
} feed;

void feed_open(feed *f);
void feed_close(feed *f);
/* One line, also through the binary envelope: the projector sees what was decoded. */
void feed_line(feed *f, const char *line, size_t size);
/* All lines of a text; a last one without LF counts. */
void feed_text(feed *f, const char *text);
/* Go on with a copy of the projector's state; the one before is not used again. */
void feed_split(feed *f);

/* "seq metric value quality", one a line. */
void feed_samples_text(const feed *f, mrd__buf *out);
/* Feed text to a new feed and compare feed_samples_text. */
void expect_samples(const char *text, const char *want);

/* Lines of the case format. more: further members with a leading comma, or "". */
void add_line(mrd__buf *out, const char *source, uint64_t host_ns, const char *kind,
              const char *payload, const char *more);

#endif
