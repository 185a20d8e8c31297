#ifndef SHIM_MEMORY_H
#define SHIM_MEMORY_H

/// Gives all whole pages back to the system in which the allocator keeps nothing (malloc_trim(3)).
void shim_give_back_free_memory(void);

#endif
