#include <features.h>
#include <srtp2/srtp.h>
#include <srtp2/auth.h>
#include <srtp2/cipher.h>
