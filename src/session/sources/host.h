/* The whole machine as a source: CPU, memory, disks, network devices, pressure, cgroup, thermal.
 * What this machine has not (no PSI, no thermal zone, no cgroup v2 controller) gives one reading
 * that says `unsupported`, then none. */
#ifndef MRD_SESSION_SOURCES_HOST_H
#define MRD_SESSION_SOURCES_HOST_H

#include "base/alloc.h"
#include "session/sources/procfs.h"
#include "session/sources/reading.h"

enum {
    MRD__HOST_DEVICES_MAX = 256, /* disks, network devices and thermal zones, each for itself */
};

/* A device, cgroup or zone: a source of its own, since its counters have their own anchor. */
typedef struct mrd__host_item {
    char source[80]; /* linux.net.eth0 */
    uint64_t number;
    uint64_t epoch; /* rises when it vanished or was made anew */
    uint64_t inode; /* cgroup: of its folder */
    bool seen;      /* at this reading */
    bool absent;    /* it is not there now */
    bool told;      /* unsupported was told */
} mrd__host_item;

typedef struct mrd__host {
    MRD__VEC(mrd__host_item) items;
    mrd__buf file, payload;
    mrd__reading_sink sink;
    uint64_t ticks_per_second, cores;
    char cgroup[512]; /* our cgroup v2 folder; empty: none is mounted */
    uint64_t beyond;  /* devices above the limit */
} mrd__host;

void mrd__host_open(mrd__host *host);
void mrd__host_close(mrd__host *host);
/* One reading of each. */
void mrd__host_read(mrd__host *host, const mrd__reading_sink *sink);

#endif
