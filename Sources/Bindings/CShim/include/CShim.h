#ifndef CSHIM_H
#define CSHIM_H

#include <features.h>
#include <stdint.h>

/// The few lines of C that Swift cannot call: GNU extensions that `import Glibc` does not show. Each returns what the
/// system call returns; -1 leaves the reason in errno.

/// An eventfd, non-blocking and closed on exec (eventfd(2)).
int shim_eventfd(void);

/// Names the calling thread for debuggers and top (prctl PR_SET_NAME, 15 bytes).
void shim_set_thread_name(const char *name);

#endif
