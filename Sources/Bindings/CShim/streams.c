#define _GNU_SOURCE
#include "shim_streams.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int shim_socket(int family, int type) { return socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

int shim_set_option(int descriptor, int level, int name, int value) {
    return setsockopt(descriptor, level, name, &value, sizeof value);
}

int shim_option(int descriptor, int level, int name) {
    int value = 0;
    socklen_t length = sizeof value;
    return getsockopt(descriptor, level, name, &value, &length) == 0 ? value : -1;
}

int shim_bind(int descriptor, int family, const struct shim_address *address) {
    struct sockaddr_storage storage;
    socklen_t length = shim_address_store(address, family, &storage);
    if (length == 0) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    return bind(descriptor, (struct sockaddr *)&storage, length);
}

int shim_connect(int descriptor, int family, const struct shim_address *address) {
    struct sockaddr_storage storage;
    socklen_t length = shim_address_store(address, family, &storage);
    if (length == 0) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    return connect(descriptor, (struct sockaddr *)&storage, length);
}

int shim_accept(int listener, struct shim_address *peer) {
    struct sockaddr_storage storage = {0};
    socklen_t length = sizeof storage;
    int descriptor = accept4(listener, (struct sockaddr *)&storage, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) return -1;
    *peer = shim_address_from(&storage);
    return descriptor;
}

struct shim_address shim_local_address(int descriptor) {
    struct sockaddr_storage storage = {0};
    socklen_t length = sizeof storage;
    if (getsockname(descriptor, (struct sockaddr *)&storage, &length) != 0) storage.ss_family = 0;
    return shim_address_from(&storage);
}

int shim_socket_family(int descriptor) { return shim_option(descriptor, SOL_SOCKET, SO_DOMAIN); }

void shim_tune_stream(int descriptor, unsigned user_timeout) {
    shim_set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
    shim_set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
    shim_set_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, 30);
    shim_set_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, 10);
    shim_set_option(descriptor, IPPROTO_TCP, TCP_KEEPCNT, 3);
    shim_set_option(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)user_timeout);
}

int shim_unacknowledged(int descriptor) {
    int count = 0;
    return ioctl(descriptor, SIOCOUTQ, &count) == 0 ? count : 0;
}

union descriptor_control {
    char bytes[CMSG_SPACE(sizeof(int) * SHIM_MAXIMUM_DESCRIPTORS)];
    struct cmsghdr align;
};

ssize_t shim_send_descriptors(int socket, const void *bytes, size_t count, const int *descriptors, int descriptor_count) {
    if (descriptor_count < 0 || descriptor_count > SHIM_MAXIMUM_DESCRIPTORS) {
        errno = EINVAL;
        return -1;
    }
    union descriptor_control control = {0};
    struct iovec vector = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    if (descriptor_count > 0) {
        size_t length = sizeof(int) * (size_t)descriptor_count;
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(length);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(length);
        memcpy(CMSG_DATA(header), descriptors, length);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

ssize_t shim_receive_descriptors(int socket, void *bytes, size_t capacity, int *descriptors, int *descriptor_count) {
    union descriptor_control control = {0};
    struct iovec vector = {.iov_base = bytes, .iov_len = capacity};
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    *descriptor_count = 0;
    ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (received < 0) return -1;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        int found = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        for (int i = 0; i < found && *descriptor_count < SHIM_MAXIMUM_DESCRIPTORS; i++)
            memcpy(&descriptors[(*descriptor_count)++], CMSG_DATA(header) + sizeof(int) * (size_t)i, sizeof(int));
    }
    if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
        for (int i = 0; i < *descriptor_count; i++) close(descriptors[i]);
        *descriptor_count = 0;
        errno = EMSGSIZE;
        return -1;
    }
    return received;
}

int64_t shim_peer_user(int socket) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
    return credentials.uid;
}
