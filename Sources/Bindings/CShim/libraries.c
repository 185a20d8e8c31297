#define _GNU_SOURCE
#include "shim_libraries.h"

#include <link.h>
#include <string.h>

/// FDO_PACKAGING_METADATA, of the owner "FDO".
#define PACKAGE_NOTE 0xcafe1a7e

struct visitor {
    void (*visit)(const char *, size_t, void *);
    void *context;
};

static size_t padded(size_t count) { return (count + 3) & ~(size_t)3; }

static void visit_segment(const char *bytes, size_t count, const struct visitor *visitor) {
    while (count >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *header = (const void *)bytes;
        const char *owner = bytes + sizeof *header;
        size_t size = sizeof *header + padded(header->n_namesz) + padded(header->n_descsz);
        if (size > count) return;
        if (header->n_type == PACKAGE_NOTE && header->n_namesz == sizeof "FDO" && memcmp(owner, "FDO", sizeof "FDO") == 0) {
            const char *note = owner + padded(header->n_namesz);
            visitor->visit(note, strnlen(note, header->n_descsz), visitor->context);
        }
        bytes += size;
        count -= size;
    }
}

static int visit_library(struct dl_phdr_info *library, size_t size, void *context) {
    (void)size;
    for (size_t index = 0; index < library->dlpi_phnum; index++) {
        const ElfW(Phdr) *segment = &library->dlpi_phdr[index];
        // Segments aligned to 8 hold the notes of another form, with other padding.
        if (segment->p_type != PT_NOTE || segment->p_align > 4) continue;
        visit_segment((const char *)(library->dlpi_addr + segment->p_vaddr), segment->p_memsz, context);
    }
    return 0;
}

void shim_package_notes(void (*visit)(const char *, size_t, void *), void *context) {
    struct visitor visitor = {visit, context};
    dl_iterate_phdr(visit_library, &visitor);
}
