#include <features.h>
#include <libswresample/swresample.h>
