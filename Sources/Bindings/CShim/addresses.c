#define _GNU_SOURCE
#include "shim_addresses.h"

#include <endian.h>
#include <netinet/in.h>
#include <string.h>

struct shim_address shim_address_from(const struct sockaddr_storage *storage) {
    struct shim_address address = {0};
    if (storage->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)storage;
        address.low = ntohl(v4->sin_addr.s_addr);
        address.port = ntohs(v4->sin_port);
        address.family = 4;
    } else if (storage->ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const void *)storage;
        memcpy(&address.high, &v6->sin6_addr, 8);
        memcpy(&address.low, (const char *)&v6->sin6_addr + 8, 8);
        address.high = be64toh(address.high);
        address.low = be64toh(address.low);
        address.port = ntohs(v6->sin6_port);
        address.family = 6;
        if (address.high == 0 && address.low >> 32 == 0xFFFF) {
            address.low &= 0xFFFFFFFF;
            address.family = 4;
        } else {
            address.scope = v6->sin6_scope_id;
        }
    }
    return address;
}

socklen_t shim_address_store(const struct shim_address *address, int socket_family, struct sockaddr_storage *storage) {
    if (socket_family == AF_INET) {
        if (address->family != 4) return 0;
        struct sockaddr_in *v4 = (void *)storage;
        memset(v4, 0, sizeof *v4);
        v4->sin_family = AF_INET;
        v4->sin_port = htons(address->port);
        v4->sin_addr.s_addr = htonl((uint32_t)address->low);
        return sizeof *v4;
    }
    struct sockaddr_in6 *v6 = (void *)storage;
    memset(v6, 0, sizeof *v6);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(address->port);
    uint64_t high = 0, low = 0;
    if (address->family == 4) {
        low = 0xFFFF00000000 | (uint32_t)address->low;
    } else {
        high = address->high;
        low = address->low;
        v6->sin6_scope_id = address->scope;
    }
    high = htobe64(high);
    low = htobe64(low);
    memcpy(&v6->sin6_addr, &high, 8);
    memcpy((char *)&v6->sin6_addr + 8, &low, 8);
    return sizeof *v6;
}
