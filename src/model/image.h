/* The warm image: a sealed store as one file that is mapped, not read.
 *
 *   header | root | columns ... texts ... | table of sections
 *
 * The root holds the store's own structs; its pointers are set to the sections as the store is
 * walked, in the one order that writer and reader share. Only names, files and blocks of args get
 * small arrays of their own, so that opening costs the same for any number of slices, and pages are
 * touched when they are drawn.
 *
 * An image is never trusted: size, layout and build, the table's hash and every section's hash must
 * hold, else it is no image. Sections up to MRD__IMAGE_WHOLE bytes are hashed whole, larger ones
 * (plain columns of numbers) at their ends and at blocks between, whole with verify. */
#ifndef MRD_MODEL_IMAGE_H
#define MRD_MODEL_IMAGE_H

#include "model/store.h"

/* Hashing this much takes less than the first page faults do. */
#define MRD__IMAGE_WHOLE ((size_t)256 << 10)
/* What is looked at in a larger section: its ends and so many blocks between. */
#define MRD__IMAGE_END ((size_t)16 << 10)
#define MRD__IMAGE_SAMPLES 16
#define MRD__IMAGE_SAMPLE ((size_t)4 << 10)
/* Sections of one image: three a file of the trace and one a block of args at most. */
#define MRD__IMAGE_SECTIONS_MAX (4u * MRD__FILES_MAX)

/* Write the store with the key of its inputs to path (atomically, private to the user). */
MRD_MUST_CHECK mrd_status mrd__image_write(const mrd__store *store, mrd__str key, const char *path,
                                           mrd_error *error);
/* Open an image of this key. MRD_ERR_FORMAT "bad_image" says why a file is none (another build,
 * another key, damaged): the caller reads the inputs then. MRD_ERR_IO where a file of the trace
 * that is still read for args is gone or changed. verify: hash all of it. workers as for
 * mrd__parallel. The store is read and destroyed like any other. */
MRD_MUST_CHECK mrd_status mrd__image_open(const char *path, mrd__str key, bool verify,
                                          uint32_t workers, mrd__store **out, mrd_error *error);
/* The key in an image's header, appended to out; the same errors. For listing. */
MRD_MUST_CHECK mrd_status mrd__image_key(const char *path, mrd__buf *out, mrd_error *error);

/* For mrd__store_destroy: what an image's store owns. */
void mrd__image_release(mrd__store *store);

#endif
