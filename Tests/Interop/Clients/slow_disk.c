/* Preloaded into a program: while the file SLOW_DISK_SWITCH exists, each write to a file below SLOW_DISK_FOLDER, and each flush of
   one, takes SLOW_DISK_MS longer, as on a disk that has too much to do. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DESCRIPTORS 65536
/* By descriptor, whether its file lies in the folder. */
static atomic_bool is_slow[DESCRIPTORS];

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int note(const char *path, int descriptor) {
    const char *folder = getenv("SLOW_DISK_FOLDER");
    if (descriptor >= 0 && descriptor < DESCRIPTORS)
        is_slow[descriptor] = folder && strncmp(path, folder, strlen(folder)) == 0;
    return descriptor;
}

static void wait_for_disk(int descriptor) {
    if (descriptor < 0 || descriptor >= DESCRIPTORS || !is_slow[descriptor]) return;
    const char *flag = getenv("SLOW_DISK_SWITCH"), *text = getenv("SLOW_DISK_MS");
    if (!flag || access(flag, F_OK) != 0) return;
    long milliseconds = text ? atol(text) : 0;
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return note(path, NEXT(open)(path, flags, mode));
}

int close(int descriptor) {
    if (descriptor >= 0 && descriptor < DESCRIPTORS) is_slow[descriptor] = 0;
    return NEXT(close)(descriptor);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    wait_for_disk(descriptor);
    return NEXT(write)(descriptor, bytes, count);
}

int fsync(int descriptor) {
    wait_for_disk(descriptor);
    return NEXT(fsync)(descriptor);
}

int fdatasync(int descriptor) {
    wait_for_disk(descriptor);
    return NEXT(fdatasync)(descriptor);
}
