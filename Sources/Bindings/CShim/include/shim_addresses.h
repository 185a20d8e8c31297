#ifndef SHIM_ADDRESSES_H
#define SHIM_ADDRESSES_H

#include <features.h>
#include <stdint.h>
#include <sys/socket.h>

/// One address and port without C unions. `high` and `low` are the halves of an IPv6 address in host order; for IPv4 the
/// address is the low 32 bits of `low`. IPv4-mapped IPv6 addresses always come out as family 4.
struct shim_address {
    uint64_t high;
    uint64_t low;
    uint32_t scope;
    uint16_t port;
    /// 4, 6, or 0 for none.
    uint8_t family;
};

/// Reads AF_INET and AF_INET6; everything else gives family 0.
struct shim_address shim_address_from(const struct sockaddr_storage *storage);

/// Fills `storage` for a socket of `socket_family` (AF_INET or AF_INET6; IPv4 on an AF_INET6 socket is written as mapped) and
/// returns its length; 0 when that socket cannot reach the address.
socklen_t shim_address_store(const struct shim_address *address, int socket_family, struct sockaddr_storage *storage);

#endif
