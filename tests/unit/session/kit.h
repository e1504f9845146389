/* What the tests of recording share: a folder of their own, records whose payload follows from
 * their sequence, tables of file calls that fail, sizes of the runs. */
#ifndef MRD_TESTS_UNIT_SESSION_KIT_H
#define MRD_TESTS_UNIT_SESSION_KIT_H

#include "base/unit.h"
#include "session/check.h"
#include "session/recording.h"

typedef struct kit {
    char root[64]; /* a folder of its own */
    char dir[96];  /* root/s: the session */
    char open_dir[104];
} kit;
void kit_begin(kit *k);
void kit_end(kit *k);
void kit_remove(const char *path);
void kit_copy(const char *from, const char *to); /* a whole folder */
/* True when the folders hold the same files with the same bytes. */
bool kit_same(const char *left, const char *right);

/* MRD_SESSION_FAULTS=big: the counts of `make faults`, else those of the quick run. */
uint64_t kit_count_of(uint64_t quick, uint64_t big);

/* The payload of a sequence, at most KIT_PAYLOAD bytes; returns its size. */
#define KIT_PAYLOAD 400
size_t kit_payload(uint64_t sequence, uint8_t out[KIT_PAYLOAD]);
/* Fails the test with the error where there is one. */
void kit_must(mrd_status status, const mrd_error *error);
/* A recording of k->dir. */
mrd__recording *kit_create(const kit *k, mrd__recording_options options);
/* Seal it; facts: JSON object of the manifest. */
void kit_finish(mrd__recording *recording, const char *facts);
/* Append the next record with its payload. */
mrd_status kit_append(mrd__recording *recording, mrd_error *error);

/* Read a session: every record must be the one of its sequence. Returns the newest sequence and
 * the status in *status (NULL: must be MRD_OK). */
uint64_t kit_read(const char *dir, const mrd__files *files, mrd_status *status);
/* Verify and expect it sound; the result for more. */
mrd__verify_result kit_sound(const char *dir, const mrd__files *files);

/* A table that fails one call, or all from there on, above another one. */
typedef struct kit_faults {
    mrd__files files;
    const mrd__files *under;
    unsigned long calls, fail_at; /* fail_at 0: none */
    int number;                   /* errno; 0: a short count where there is one */
    bool always;
    unsigned long failed; /* calls that did */
} kit_faults;
void kit_faults_init(kit_faults *faults, const mrd__files *under);

#endif
