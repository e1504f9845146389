/* One step over UTF-8, shared by everything in base that reads text of unknown quality. */
#ifndef MRD_BASE_UTF8_H
#define MRD_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#define MRD__UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Length of the sequence at `at` (left > 0 bytes remain). Valid sequence: *valid is true. Else the
 * length is that of the maximal subpart that one U+FFFD stands for (Unicode 15, section 3.9). */
size_t mrd__utf8_step(const char *at, size_t left, bool *valid);

/* Number of leading bytes below 0x80. */
size_t mrd__ascii_run(const char *at, size_t left);

#endif
