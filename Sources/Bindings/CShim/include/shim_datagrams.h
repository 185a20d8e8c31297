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

/// Runs of datagrams that wait to be sent by one call (sendmmsg(2)), their bytes copied. At most so many:
#define SHIM_OUTBOX_RUNS 16
/// Bytes of the longest run.
#define SHIM_RUN_BYTES 65536
struct shim_outbox;
struct shim_outbox *shim_outbox_new(void);
void shim_outbox_free(struct shim_outbox *outbox);
int shim_outbox_count(const struct shim_outbox *outbox);

/// Keeps a run for `shim_outbox_send`, with the arguments of `shim_send_datagrams`. 0 when there is no room for it, or the socket
/// cannot reach the address.
int shim_outbox_add(
    struct shim_outbox *outbox, int family, const struct iovec *vectors, int vector_count, uint16_t segment_size,
    const struct shim_address *peer);

/// Sends what waits, in order, without waiting. 0 when all has gone; -1 leaves the first that the kernel did not take, and those
/// behind it.
int shim_outbox_send(struct shim_outbox *outbox, int descriptor);

/// A run that waits.
struct shim_run {
    uint8_t *bytes;
    uint32_t count;
    /// 0 for a single datagram.
    uint16_t segment_size;
    struct shim_address peer;
};
/// Takes the first run out; its bytes are good until the next call. There must be one.
struct shim_run shim_outbox_take_first(struct shim_outbox *outbox);

/// IP_PKTINFO or IPV6_RECVPKTINFO and SO_RXQ_OVFL; no path MTU discovery by DF, so that what is too long for the path is
/// fragmented and not refused.
int shim_prepare_datagrams(int descriptor, int family);

#endif
