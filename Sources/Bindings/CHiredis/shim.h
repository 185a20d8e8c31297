#include <features.h>
#include <hiredis/read.h>
