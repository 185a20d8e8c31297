#define _GNU_SOURCE
#include "shim_processes.h"

#include <signal.h>
#include <spawn.h>
#include <unistd.h>

int shim_spawn(int32_t *process, char *const words[], char *const environment[]) {
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    // Our threads block signals that a new program must hear.
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    // Not all are closed on exec, libcurl's connections among them: peers would wait for an end that the new program keeps from them.
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    int fault = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    pid_t started = 0;
    if (fault == 0) fault = posix_spawnp(&started, words[0], &actions, &attributes, words, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    *process = started;
    return fault;
}
