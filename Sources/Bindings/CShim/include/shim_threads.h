#ifndef SHIM_THREADS_H
#define SHIM_THREADS_H

#include <features.h>
#include <pthread.h>
#include <stdint.h>

/// An eventfd, non-blocking and closed on exec (eventfd(2)).
int shim_eventfd(void);

/// Adds one to an eventfd, which wakes its watcher.
int shim_eventfd_signal(int descriptor);

/// Takes all that was signalled, so that the descriptor is not readable until the next signal.
int shim_eventfd_clear(int descriptor);

/// A timer that becomes readable, non-blocking and closed on exec (timerfd_create(2) on CLOCK_MONOTONIC).
int shim_timerfd(void);

/// Sets when it becomes readable, in nanoseconds of the monotonic clock; 0 for never. Until then it is not readable.
int shim_timerfd_set(int descriptor, int64_t moment);

/// Names the calling thread for debuggers and top (prctl PR_SET_NAME, 15 bytes).
void shim_set_thread_name(const char *name);

/// Waits for a thread's end until then, in nanoseconds of the monotonic clock (pthread_clockjoin_np(3)); 0 where it came.
int shim_join_until(pthread_t thread, int64_t moment);

/// CPU time of the calling thread, nanoseconds.
int64_t shim_thread_cpu_nanoseconds(void);

/// CPUs in the calling thread's affinity mask; -1 on error.
int shim_affinity_count(void);

/// 1 when the kernel's clock is kept by NTP or alike (adjtimex(2)), 0 otherwise.
int shim_clock_is_synchronised(void);

#endif
