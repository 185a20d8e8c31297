#ifndef SHIM_LIBRARIES_H
#define SHIM_LIBRARIES_H

#include <stddef.h>

/// Calls `visit` with the package note (a JSON text, `count` bytes, not terminated) of each loaded library that carries one.
/// The note is what `ld --package-metadata` writes: which package of which version a library was built from.
void shim_package_notes(void (*visit)(const char *note, size_t count, void *context), void *context);

#endif
