#ifndef CSHIM_H
#define CSHIM_H

/// The few lines of C that Swift cannot call: GNU extensions that `import Glibc` does not show, and macros. Each function
/// returns what the system call returns; -1 leaves the reason in errno.

#include "shim_addresses.h"
#include "shim_datagrams.h"
#include "shim_epoll.h"
#include "shim_files.h"
#include "shim_libraries.h"
#include "shim_memory.h"
#include "shim_processes.h"
#include "shim_streams.h"
#include "shim_threads.h"

#endif
