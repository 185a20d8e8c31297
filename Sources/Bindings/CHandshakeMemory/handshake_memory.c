#define _GNU_SOURCE
#include "CHandshakeMemory.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/// What `BUF_MEM_grow` asks for where 16,384 bytes are wanted. Were it another number, nothing would be given back.
enum { buffer_size = (16384 + 3) / 3 * 4 };

/// Of the buffer, which has whole pages for itself.
static size_t paged_size(void) {
    size_t page = getpagesize();
    return (buffer_size + page - 1) / page * page;
}

static _Thread_local void *watched;

static void *allocate(size_t size, const char *file, int line) { return size == 0 ? NULL : malloc(size); }

static void *reallocate(void *memory, size_t size, const char *file, int line) {
    if (memory == NULL && size == buffer_size) return watched = aligned_alloc(getpagesize(), paged_size());
    if (memory != NULL && memory == watched) watched = NULL;
    return realloc(memory, size);
}

static void release(void *memory, const char *file, int line) {
    if (memory != NULL && memory == watched) watched = NULL;
    free(memory);
}

/// Refused once OpenSSL has allocated; then no buffer is ever seen.
__attribute__((constructor)) static void begin(void) { CRYPTO_set_mem_functions(allocate, reallocate, release); }

void handshake_memory_watch(void *buffer) { watched = buffer; }

void *handshake_memory_watched(void) { return watched; }

void handshake_memory_give_back(void *buffer) {
    if (buffer != NULL) madvise(buffer, paged_size(), MADV_DONTNEED);
}
