#include "base/assert.h"
#include "base/error.h"
#include "base/os.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static int64_t clock_ns(clockid_t id)
{
    struct timespec now;
    int rc = clock_gettime(id, &now);
    mrd__assert(rc == 0);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

uint64_t mrd__monotonic_ns(void)
{
    return (uint64_t)clock_ns(CLOCK_MONOTONIC);
}

uint64_t mrd__boottime_ns(void)
{
    return (uint64_t)clock_ns(CLOCK_BOOTTIME);
}

int64_t mrd__realtime_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}

void mrd__random_bytes(void *out, size_t size)
{
    char *at = out;
    while (size > 0) {
        ssize_t got = getrandom(at, size, 0);
        if (got < 0) {
            mrd__assert(errno == EINTR); /* nothing else can fail here, and we must not guess */
            continue;
        }
        at += got;
        size -= (size_t)got;
    }
}

void mrd__uuid_random(char out[37])
{
    uint8_t id[16];
    mrd__random_bytes(id, sizeof id);
    id[6] = (uint8_t)((id[6] & 0x0f) | 0x40);
    id[8] = (uint8_t)((id[8] & 0x3f) | 0x80);
    for (size_t i = 0; i < sizeof id; i++) {
        bool dash = i == 4 || i == 6 || i == 8 || i == 10;
        int wrote = snprintf(out, 4, "%s%02x", dash ? "-" : "", id[i]);
        out += wrote;
    }
}

/* "VmRSS:     1234 kB" */
static bool status_line(const char *line, const char *name, uint64_t *bytes)
{
    size_t length = strlen(name);
    if (strncmp(line, name, length) != 0 || line[length] != ':') return false;
    const char *at = line + length + 1;
    while (*at == ' ' || *at == '\t')
        at++;
    uint64_t kib = 0;
    while (*at >= '0' && *at <= '9')
        kib = kib * 10 + (uint64_t)(*at++ - '0');
    *bytes = kib * 1024;
    return true;
}

void mrd__process_memory(uint64_t *resident, uint64_t *peak)
{
    uint64_t now = 0;
    uint64_t high = 0;
    FILE *file = fopen("/proc/self/status", "re");
    if (file != NULL) {
        char line[256];
        while (fgets(line, sizeof line, file) != NULL) {
            if (!status_line(line, "VmRSS", &now)) status_line(line, "VmHWM", &high);
        }
        fclose(file);
    }
    if (resident != NULL) *resident = now;
    if (peak != NULL) *peak = high;
}
