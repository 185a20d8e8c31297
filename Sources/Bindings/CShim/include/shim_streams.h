#ifndef SHIM_STREAMS_H
#define SHIM_STREAMS_H

#include "shim_addresses.h"

#include <sys/types.h>

/// A socket, non-blocking and closed on exec.
int shim_socket(int family, int type);

/// setsockopt for an int value.
int shim_set_option(int descriptor, int level, int name, int value);

/// getsockopt for an int value; -1 on error.
int shim_option(int descriptor, int level, int name);

int shim_bind(int descriptor, int family, const struct shim_address *address);
int shim_connect(int descriptor, int family, const struct shim_address *address);

/// Accepts one connection: non-blocking, closed on exec, other options as its listener has them (accept4(2)).
int shim_accept(int listener, struct shim_address *peer);

struct shim_address shim_local_address(int descriptor);

/// AF_INET or AF_INET6, or -1.
int shim_socket_family(int descriptor);

/// TCP_NODELAY, keepalive (30 s, then 3 probes 10 s apart) and TCP_USER_TIMEOUT, in milliseconds: of a connection, or of a
/// listener for all that it will accept.
void shim_tune_stream(int descriptor, unsigned user_timeout);

/// Bytes that were written to a connection and that the peer has not acknowledged (SIOCOUTQ); 0 when the kernel does not know.
int shim_unacknowledged(int descriptor);

/// Most descriptors one message carries.
#define SHIM_MAXIMUM_DESCRIPTORS 64

/// Sends bytes and descriptors over an AF_UNIX socket in one message (SCM_RIGHTS).
ssize_t shim_send_descriptors(int socket, const void *bytes, size_t count, const int *descriptors, int descriptor_count);

/// Receives one message with up to SHIM_MAXIMUM_DESCRIPTORS descriptors, closed on exec. EMSGSIZE when something was cut off
/// (what had arrived is closed again).
ssize_t shim_receive_descriptors(int socket, void *bytes, size_t capacity, int *descriptors, int *descriptor_count);

/// The user id at the other end of an AF_UNIX socket (SO_PEERCRED), or -1.
int64_t shim_peer_user(int socket);

#endif
