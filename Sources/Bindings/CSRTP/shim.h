#include <features.h>
#include <srtp2/srtp.h>
