/* Preloaded into a program: counts what each thread asks the C library's allocator for. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

/* In the thread's own block from the start: counting must not allocate. */
static __thread uint64_t count __attribute__((tls_model("initial-exec")));

uint64_t stagedoor_allocation_count(void) { return count; }

void *malloc(size_t size) { count++; return __libc_malloc(size); }
void *calloc(size_t items, size_t size) { count++; return __libc_calloc(items, size); }
void *realloc(void *block, size_t size) { count++; return __libc_realloc(block, size); }
void *memalign(size_t alignment, size_t size) { count++; return __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { count++; return __libc_memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
    count++;
    *block = __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}
