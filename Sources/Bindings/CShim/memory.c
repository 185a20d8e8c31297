#include "shim_memory.h"

#include <malloc.h>

void shim_give_back_free_memory(void) { malloc_trim(0); }
