#ifndef SHIM_FILES_H
#define SHIM_FILES_H

#include <features.h>

/// Exchanges two files' names in one step (renameat2(2)). Both must be there; not every file system can.
int shim_exchange_files(const char *one, const char *other);

#endif
