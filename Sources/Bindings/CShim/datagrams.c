#define _GNU_SOURCE
#include "shim_datagrams.h"
#include "shim_streams.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

/// Room for one IPV6_PKTINFO or IP_PKTINFO (a dual-stack socket may give both) and the overflow count.
union control {
    char bytes[CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(struct in_pktinfo)) + CMSG_SPACE(sizeof(uint32_t))];
    struct cmsghdr align;
};

struct shim_batch {
    struct mmsghdr headers[SHIM_BATCH_SLOTS];
    struct iovec vectors[SHIM_BATCH_SLOTS];
    struct sockaddr_storage sources[SHIM_BATCH_SLOTS];
    union control controls[SHIM_BATCH_SLOTS];
    struct shim_datagram datagrams[SHIM_BATCH_SLOTS];
    uint8_t slots[SHIM_BATCH_SLOTS][SHIM_SLOT_BYTES + SHIM_SLOT_SLACK];
};

struct shim_batch *shim_batch_new(void) {
    struct shim_batch *batch = calloc(1, sizeof *batch);
    if (!batch) return NULL;
    for (int i = 0; i < SHIM_BATCH_SLOTS; i++) {
        batch->vectors[i] = (struct iovec){.iov_base = batch->slots[i], .iov_len = SHIM_SLOT_BYTES};
        batch->headers[i].msg_hdr = (struct msghdr){
            .msg_name = &batch->sources[i],
            .msg_iov = &batch->vectors[i],
            .msg_iovlen = 1,
            .msg_control = batch->controls[i].bytes,
        };
    }
    return batch;
}

void shim_batch_free(struct shim_batch *batch) { free(batch); }

struct shim_datagram *shim_batch_datagrams(struct shim_batch *batch) { return batch->datagrams; }

static void read_control(struct msghdr *message, struct shim_datagram *datagram, uint32_t *overflow) {
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            memcpy(&info, CMSG_DATA(header), sizeof info);
            datagram->local = (struct shim_address){.low = ntohl(info.ipi_addr.s_addr), .family = 4};
        } else if (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(header), sizeof info);
            struct sockaddr_storage storage = {0};
            struct sockaddr_in6 *v6 = (void *)&storage;
            v6->sin6_family = AF_INET6;
            v6->sin6_addr = info.ipi6_addr;
            if (IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr)) v6->sin6_scope_id = info.ipi6_ifindex;
            datagram->local = shim_address_from(&storage);
        } else if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SO_RXQ_OVFL) {
            memcpy(overflow, CMSG_DATA(header), sizeof *overflow);
        }
    }
}

int shim_batch_receive(struct shim_batch *batch, int descriptor, uint32_t *overflow) {
    for (int i = 0; i < SHIM_BATCH_SLOTS; i++) {
        batch->headers[i].msg_hdr.msg_namelen = sizeof batch->sources[i];
        batch->headers[i].msg_hdr.msg_controllen = sizeof batch->controls[i].bytes;
    }
    int count = recvmmsg(descriptor, batch->headers, SHIM_BATCH_SLOTS, MSG_DONTWAIT, NULL);
    for (int i = 0; i < count; i++) {
        struct msghdr *message = &batch->headers[i].msg_hdr;
        struct shim_datagram *datagram = &batch->datagrams[i];
        datagram->bytes = batch->slots[i];
        datagram->count = batch->headers[i].msg_len;
        datagram->truncated = (message->msg_flags & MSG_TRUNC) != 0;
        datagram->source = shim_address_from(&batch->sources[i]);
        datagram->local = (struct shim_address){0};
        read_control(message, datagram, overflow);
    }
    return count;
}

uint32_t shim_datagram_drops(int descriptor) {
    uint32_t values[SK_MEMINFO_VARS] = {0};
    socklen_t length = sizeof values;
    return getsockopt(descriptor, SOL_SOCKET, SO_MEMINFO, values, &length) == 0 ? values[SK_MEMINFO_DROPS] : 0;
}

/// Appends one control message; the caller has left room for it.
static void append_control(struct msghdr *message, int level, int type, const void *value, size_t size) {
    struct cmsghdr *header = (struct cmsghdr *)((char *)message->msg_control + message->msg_controllen);
    memset(header, 0, CMSG_SPACE(size));
    header->cmsg_level = level;
    header->cmsg_type = type;
    header->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(header), value, size);
    message->msg_controllen += CMSG_SPACE(size);
}

static void append_local(struct msghdr *message, const struct shim_address *local) {
    if (local->family == 4) {
        struct in_pktinfo info = {.ipi_spec_dst.s_addr = htonl((uint32_t)local->low)};
        append_control(message, IPPROTO_IP, IP_PKTINFO, &info, sizeof info);
    } else if (local->family == 6) {
        struct sockaddr_storage storage;
        shim_address_store(local, AF_INET6, &storage);
        const struct sockaddr_in6 *v6 = (const void *)&storage;
        struct in6_pktinfo info = {.ipi6_addr = v6->sin6_addr, .ipi6_ifindex = local->scope};
        append_control(message, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof info);
    }
}

/// The last of the control messages, of which there may be none.
static void append_segment_size(struct msghdr *message, uint16_t segment_size) {
    if (segment_size > 0) append_control(message, IPPROTO_UDP, UDP_SEGMENT, &segment_size, sizeof segment_size);
    if (message->msg_controllen == 0) message->msg_control = NULL;
}

ssize_t shim_send_datagrams(
    int descriptor, int family, const struct iovec *vectors, int vector_count, uint16_t segment_size,
    const struct shim_address *peer, const struct shim_address *local) {
    struct sockaddr_storage storage;
    union control control;
    struct msghdr message = {
        .msg_name = &storage,
        .msg_namelen = shim_address_store(peer, family, &storage),
        .msg_iov = (struct iovec *)vectors,
        .msg_iovlen = (size_t)vector_count,
        .msg_control = control.bytes,
    };
    if (message.msg_namelen == 0) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    append_local(&message, local);
    append_segment_size(&message, segment_size);
    return sendmsg(descriptor, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int shim_send_runs(int descriptor, int family, const struct shim_run *runs, int count) {
    struct mmsghdr headers[SHIM_RUNS];
    struct iovec vectors[SHIM_RUNS];
    struct sockaddr_storage peers[SHIM_RUNS];
    union control controls[SHIM_RUNS];
    unsigned ready = 0;
    for (; ready < (unsigned)count; ready++) {
        const struct shim_run *run = &runs[ready];
        vectors[ready] = (struct iovec){.iov_base = run->bytes, .iov_len = run->count};
        struct msghdr *message = &headers[ready].msg_hdr;
        *message = (struct msghdr){
            .msg_name = &peers[ready],
            .msg_namelen = shim_address_store(&run->peer, family, &peers[ready]),
            .msg_iov = &vectors[ready],
            .msg_iovlen = 1,
            .msg_control = controls[ready].bytes,
        };
        if (message->msg_namelen == 0) break;
        append_segment_size(message, run->segment_size);
    }
    if (ready == 0) return -EAFNOSUPPORT;
    int taken = sendmmsg(descriptor, headers, ready, MSG_DONTWAIT | MSG_NOSIGNAL);
    return taken < 0 ? -errno : taken;
}

int shim_prepare_datagrams(int descriptor, int family) {
    shim_set_option(descriptor, SOL_SOCKET, SO_RXQ_OVFL, 1);
    shim_set_option(descriptor, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT);
    if (family == AF_INET) return shim_set_option(descriptor, IPPROTO_IP, IP_PKTINFO, 1);
    shim_set_option(descriptor, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DONT);
    return shim_set_option(descriptor, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
}
