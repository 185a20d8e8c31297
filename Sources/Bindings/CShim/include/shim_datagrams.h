#ifndef SHIM_DATAGRAMS_H
#define SHIM_DATAGRAMS_H

#include "shim_addresses.h"

#include <sys/types.h>
#include <sys/uio.h>

/// Datagrams taken by one receive call.
#define SHIM_BATCH_SLOTS 64
/// Longest datagram kept whole; longer ones are marked as truncated.
#define SHIM_SLOT_BYTES 2048
/// Bytes behind every slot that may be read without fault: libnice's STUN parser reads past the end of what it is given, and
/// SRTP trailers are written there when a packet is protected in place.
#define SHIM_SLOT_SLACK 32

/// One received datagram, in its slot until the next receive call.
struct shim_datagram {
    uint8_t *bytes;
    uint32_t count;
    int truncated;
    struct shim_address source;
    /// The address it was sent to (IP_PKTINFO, IPV6_PKTINFO); port 0.
    struct shim_address local;
};

/// The slots, message headers and control buffers of one loop; all of its sockets share it.
struct shim_batch;
struct shim_batch *shim_batch_new(void);
void shim_batch_free(struct shim_batch *batch);
struct shim_datagram *shim_batch_datagrams(struct shim_batch *batch);

/// recvmmsg(2) without waiting: how many datagrams there are now in the batch, or -1. `overflow` is set to the kernel's count
/// of datagrams that this socket has dropped so far (SO_RXQ_OVFL, wraps at 32 bits), and left alone when it says nothing.
int shim_batch_receive(struct shim_batch *batch, int descriptor, uint32_t *overflow);

/// The same count as it is now, of whoever read the socket (SO_MEMINFO, Linux 4.12); 0 when the kernel does not say.
uint32_t shim_datagram_drops(int descriptor);

/// Sends the gathered bytes to `peer`, from `local` where its family is not 0, cut into datagrams of `segment_size` bytes
/// by UDP GSO where that is not 0 (UDP_SEGMENT, Linux 4.18).
ssize_t shim_send_datagrams(
    int descriptor, int family, const struct iovec *vectors, int vector_count, uint16_t segment_size,
    const struct shim_address *peer, const struct shim_address *local);

/// Datagrams as long as the first, of which the last may be shorter.
struct shim_run {
    uint8_t *bytes;
    uint32_t count;
    /// 0 for a single datagram.
    uint16_t segment_size;
    struct shim_address peer;
};
/// Sent by one call at most.
#define SHIM_RUNS 16
/// Sends runs by one call (sendmmsg(2)) without waiting: how many the kernel took, in order, or -errno of the first.
int shim_send_runs(int descriptor, int family, const struct shim_run *runs, int count);

/// IP_PKTINFO or IPV6_RECVPKTINFO and SO_RXQ_OVFL; no path MTU discovery by DF, so that what is too long for the path is
/// fragmented and not refused.
int shim_prepare_datagrams(int descriptor, int family);

#endif
