#ifndef SHIM_PROCESSES_H
#define SHIM_PROCESSES_H

#include <features.h>
#include <stdint.h>

/// Starts a program, found by its name as a shell would, that blocks and ignores no signal and has no descriptor of ours but the
/// standard ones (posix_spawnp(3)). Words and environment end with NULL. Returns 0 and its process id, or an errno.
int shim_spawn(int32_t *process, char *const words[], char *const environment[]);

#endif
