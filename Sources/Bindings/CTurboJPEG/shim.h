#include <features.h>
#include <turbojpeg.h>
