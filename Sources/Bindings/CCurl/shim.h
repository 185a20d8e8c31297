#include <features.h>
#include <curl/curl.h>
