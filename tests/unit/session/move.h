/* Moving whole records of a file about: what test_damage.c and test_damage_open.c share. */
#ifndef MRD_TESTS_UNIT_SESSION_MOVE_H
#define MRD_TESTS_UNIT_SESSION_MOVE_H

#include "made.h"

typedef enum move {
    DROPPED,
    DOUBLED,
    SWAPPED,
    SPLICED,
    MOVES
} move;
extern const char *const move_names[MOVES];

/* The bytes of a file with one record moved, in out (cleared first); for SPLICED one of other takes
 * its place. Returns the number of the first record that is not where it was. */
size_t move_record(mrd__buf *out, move how, const mrd__buf *bytes, const made_file *file,
                   const mrd__buf *other, const made_file *other_file, mrd__rng *rng);
bool same_bytes(const mrd__buf *a, const mrd__buf *b);

#endif
