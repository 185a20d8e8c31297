#include <features.h>
#include <curl/curl.h>

// curl_easy_setopt and its kin are variadic, which Swift cannot call: one function for each type that is passed.
static inline CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) { return curl_easy_setopt(easy, option, value); }
static inline CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value) { return curl_easy_setopt(easy, option, value); }
static inline CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value) { return curl_easy_setopt(easy, option, value); }
static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) { return curl_easy_setopt(easy, option, value); }
static inline CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) { return curl_easy_setopt(easy, option, value); }
static inline CURLcode ccurl_set_write(CURL *easy, CURLoption option, size_t (*value)(char *, size_t, size_t, void *)) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLMcode ccurl_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) { return curl_multi_setopt(multi, option, value); }
static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) { return curl_multi_setopt(multi, option, value); }
static inline CURLMcode ccurl_multi_set_socket(CURLM *multi, int (*value)(CURL *, curl_socket_t, int, void *, void *)) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, value);
}
static inline CURLMcode ccurl_multi_set_timer(CURLM *multi, int (*value)(CURLM *, long, void *)) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, value);
}
static inline long ccurl_status(CURL *easy) {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}
/// Where the last transfer's connection leads; empty where there was none.
static inline const char *ccurl_address(CURL *easy) {
    char *address = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIMARY_IP, &address);
    return address ? address : "";
}
/// From which address of ours that connection was made; empty where there was none, or it is unknown.
static inline const char *ccurl_own_address(CURL *easy) {
    char *address = NULL;
    curl_easy_getinfo(easy, CURLINFO_LOCAL_IP, &address);
    return address ? address : "";
}
static inline CURLcode ccurl_result(const CURLMsg *message) { return message->data.result; }
