/* Texts of /proc, /sys and cgroup files to members of a JSON payload. Pure: text in, text out.
 *
 * Nothing is invented: a line, field or number that is not there or does not parse leaves its
 * member out; a reader of the payload then says `missing`, never 0. Units: bytes where the kernel
 * documents the file's unit (kB lines of status, smaps_rollup and meminfo are KiB, sectors of
 * diskstats are 512 bytes), ns, us where they are; ticks keep the name ticks. */
#ifndef MRD_SESSION_SOURCES_PROCFS_H
#define MRD_SESSION_SOURCES_PROCFS_H

#include "base/text.h"

/* Members of an object under construction; `{` and `}` are the caller's. */
typedef struct mrd__members {
    mrd__buf *out;
    uint32_t count; /* written so far */
} mrd__members;

void mrd__member_uint(mrd__members *members, const char *key, uint64_t value);
void mrd__member_int(mrd__members *members, const char *key, int64_t value);
void mrd__member_text(mrd__members *members, const char *key, mrd__str value);
void mrd__member_null(mrd__members *members, const char *key);

/* A line `name value [kB]` of a file and what becomes of it. */
typedef struct mrd__pair {
    const char *name; /* up to the colon or space */
    const char *key;  /* of the payload */
    uint64_t factor;  /* of the number: 1024 for kB */
} mrd__pair;

/* Every line of pairs (ended by a NULL name) that text holds. Returns how many. */
uint32_t mrd__procfs_pairs(mrd__str text, const mrd__pair *pairs, mrd__members *members);
/* The number of one such line. False: not there, or no number. */
bool mrd__procfs_value(mrd__str text, const char *name, uint64_t *value);

/* What this program needs of /proc/PID/stat; parsed after the last ')', which a name may hold. */
typedef struct mrd__proc_stat {
    char state;
    int64_t parent;
    uint64_t minor_faults, major_faults; /* of the process without children it waited for */
    uint64_t user_ticks, system_ticks;   /* with threads that ended */
    uint64_t child_user_ticks, child_system_ticks; /* of children it waited for */
    uint64_t threads, start_ticks;
    uint64_t resident_pages;
} mrd__proc_stat;
/* False: cut, or a field that is no number. */
MRD_MUST_CHECK bool mrd__procfs_stat(mrd__str text, mrd__proc_stat *stat);

/* The words of a line, blanks between them. Borrowed; returns how many, at most limit. */
size_t mrd__procfs_words(mrd__str line, mrd__str *words, size_t limit);
/* The next line of *text (without LF), which moves on. False: no more. */
bool mrd__procfs_line(mrd__str *text, mrd__str *line);

/* Member key, total of a pressure file's line ("some" or "full"), us. False: not there. */
bool mrd__procfs_pressure(mrd__str text, const char *line, uint64_t *total_us);

#endif
