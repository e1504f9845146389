/* The linker's build id: a note in the program's own memory that differs with any difference in
 * what was linked. */
#include "base/alloc.h"
#include "base/os.h"

#include <elf.h>
#include <link.h>
#include <string.h>

static size_t padded(size_t size)
{
    return (size + 3) / 4 * 4;
}

static uint64_t hash_of_notes(const char *notes, size_t size)
{
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, notes, sizeof note);
        size_t whole = sizeof note + padded(note.n_namesz) + padded(note.n_descsz);
        if (whole > size) return 0;
        const char *name = notes + sizeof note;
        bool gnu = note.n_namesz == 4 && memcmp(name, "GNU", 4) == 0;
        if (gnu && note.n_type == NT_GNU_BUILD_ID && note.n_descsz > 0)
            return mrd__hash(name + padded(note.n_namesz), note.n_descsz);
        notes += whole;
        size -= whole;
    }
    return 0;
}

static int look_at(struct dl_phdr_info *object, size_t size, void *ctx)
{
    (void)size;
    uint64_t *hash = ctx;
    for (size_t i = 0; i < object->dlpi_phnum && *hash == 0; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_NOTE) continue;
        *hash =
            hash_of_notes((const char *)(uintptr_t)(object->dlpi_addr + part->p_vaddr), // NOLINT
                          part->p_memsz);
    }
    return 1; /* the first object is the program itself */
}

uint64_t mrd__build_hash(void)
{
    uint64_t hash = 0;
    dl_iterate_phdr(look_at, &hash);
    return hash;
}
