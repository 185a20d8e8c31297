#define _GNU_SOURCE
#include "shim_threads.h"

#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <time.h>

int shim_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

int shim_eventfd_signal(int descriptor) { return eventfd_write(descriptor, 1); }

int shim_eventfd_clear(int descriptor) {
    eventfd_t count;
    return eventfd_read(descriptor, &count);
}

int shim_timerfd(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC); }

int shim_timerfd_set(int descriptor, int64_t moment) {
    struct itimerspec time = {.it_value = {.tv_sec = moment / 1000000000, .tv_nsec = moment % 1000000000}};
    return timerfd_settime(descriptor, TFD_TIMER_ABSTIME, &time, NULL);
}

void shim_set_thread_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

int shim_join_until(pthread_t thread, int64_t moment) {
    struct timespec time = {.tv_sec = moment / 1000000000, .tv_nsec = moment % 1000000000};
    return pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &time);
}

int64_t shim_thread_cpu_nanoseconds(void) {
    struct timespec time;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return 0;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int shim_affinity_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return -1;
    return CPU_COUNT(&set);
}

int shim_clock_is_synchronised(void) {
    struct timex state = {0};
    return adjtimex(&state) != TIME_ERROR;
}
