/* Which process owns something, and whether it still lives. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "results/files.h"

/* Field 22 of /proc/PID/stat: when the process started, in ticks since boot; 0: no such one. The
 * name in field 2 may hold anything, so fields are counted from its last parenthesis. */
static uint64_t start_of(long pid)
{
    char path[64], text[1024];
    size_t got = 0;
    uint64_t start = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    if (mrd__file_head(path, text, sizeof text - 1, &got, NULL) != MRD_OK) return 0;
    text[got] = '\0';
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++) {
        at = strchr(at, ' ');
        if (at) at++;
    }
    if (at) mrd__parse_uint64((mrd__str){at, strcspn(at, " ")}, &start);
    return start;
}

static uint64_t host_hash(void)
{
    char name[256] = {0};
    gethostname(name, sizeof name - 1);
    return mrd__hash(name, strlen(name));
}

void mrd__owner_text(char out[MRD__OWNER])
{
    long pid = (long)getpid();
    snprintf(out, MRD__OWNER, "%lx-%llx-%llx", pid, (unsigned long long)start_of(pid),
             (unsigned long long)host_hash());
}

bool mrd__owner_alive(const char *owner)
{
    unsigned long pid;
    unsigned long long start, host;
    if (sscanf(owner, "%lx-%llx-%llx", &pid, &start, &host) != 3) return false;
    if (host != host_hash()) return true; /* who can tell */
    return start_of((long)pid) == start;
}
