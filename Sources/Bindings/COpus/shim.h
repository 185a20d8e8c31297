#include <features.h>
#include <opus/opus.h>
