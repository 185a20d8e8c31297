#define _GNU_SOURCE
#include "CShim.h"

#include <sys/eventfd.h>
#include <sys/prctl.h>

int shim_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

void shim_set_thread_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
