#include <features.h>
#include <openssl/bio.h>
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/* SHA-1 as a plain value that can be copied: what takes its place since OpenSSL 3.0 copies a state by malloc and free. */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
static inline int openssl_sha1_begin(SHA_CTX *state) { return SHA1_Init(state); }
static inline int openssl_sha1_add(SHA_CTX *state, const void *bytes, size_t count) { return SHA1_Update(state, bytes, count); }
static inline int openssl_sha1_end(SHA_CTX *state, unsigned char digest[SHA_DIGEST_LENGTH]) { return SHA1_Final(digest, state); }
#pragma clang diagnostic pop
