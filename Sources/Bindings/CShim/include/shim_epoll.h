#ifndef SHIM_EPOLL_H
#define SHIM_EPOLL_H

/// epoll(7), which `import Glibc` leaves out: for the bare relay that servers are measured beside. The server has libevent.
#include <sys/epoll.h>

#endif
