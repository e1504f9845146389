/* The fast walker and the scan for event borders: what the parallel reader is made of. */
#ifndef MRD_INGEST_CHROME_JSON_FAST_H
#define MRD_INGEST_CHROME_JSON_FAST_H

#include "ingest/chrome_json/event.h"

/* Bytes behind the text that must be readable and zero for the fast walker. */
#define MRD__CJ_SLACK 64

/* Walk the event object at `at` (a '{'). True: event is filled exactly as the plain walker would
 * do it, and holds nothing that is counted (event->plain). False: ask the plain walker; event is
 * then undefined. The text is followed by MRD__CJ_SLACK zero bytes. */
bool mrd__cj_fast_event(const char *at, mrd__cj_event *event);

/* What a piece of text does to the state of a reader that enters it. */
typedef struct mrd__cj_scan {
    bool flips;       /* an odd number of quotes: leaves a string entered outside, and back */
    int64_t depth[2]; /* levels opened minus closed when entered outside [0], inside [1] a string */
} mrd__cj_scan;

/* Scan data[from, to). escaped: a backslash before it takes the first byte's meaning. */
mrd__cj_scan mrd__cj_scan_piece(const char *data, size_t from, size_t to, bool escaped);
/* The same on a processor whose registers hold 32 bytes at most. */
mrd__cj_scan mrd__cj_scan_32(const char *data, size_t from, size_t to, bool escaped);
/* The same byte by byte: the oracle of the scan. */
mrd__cj_scan mrd__cj_scan_plain(const char *data, size_t from, size_t to, bool escaped);

/* The first byte of text[0..limit) that looks like the '{' of an event, SIZE_MAX without one; text
 * is looked at up to size. before: the byte before it that is no blank, or a blank. A guess: the
 * caller checks it. */
size_t mrd__cj_guess_event(const char *text, size_t size, size_t limit, char before);

#endif
