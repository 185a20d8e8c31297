import Foundation
import TestSupport

/// A publisher's way to the media port that loses and reorders RTP and RTCP, in both directions, and the router behind it: it
/// notes when each packet was first sent and when it came out.
///
/// Set-up passes unhurt: STUN and DTLS have retransmissions of their own. Turned by `turn`, on the test's thread.
final class LossyPath {
    /// Of RTP, by its sequence number.
    struct Track {
        var sent: [UInt16: ContinuousClock.Instant] = [:]
        /// In the order of sending; the first ones are never lost, so that both ends can be compared.
        var order: [UInt16] = []
        var arrived: [UInt16: ContinuousClock.Instant] = [:]
        var firstArrival: UInt16?
        /// Packets whose first transmission was dropped.
        var dropped = 0
    }

    /// Percent of the datagrams that are dropped, and of those that are overtaken by the next one.
    var percent: UInt64 = 0
    private(set) var video = Track()
    private(set) var audio = Track()
    /// Where clients send to in place of the media port.
    var port: UInt16 { front.port }

    private let front: DatagramSocket
    private let back: DatagramSocket
    private let router: RouterEnd
    private var server = sockaddr_in()
    private var client: sockaddr_in?
    private var delayed: (bytes: [UInt8], since: ContinuousClock.Instant)?
    private var random: SplitMix64

    init(front: DatagramSocket, server port: UInt16, router: RouterEnd, seed: UInt64) throws {
        (self.front, self.router) = (front, router)
        back = try DatagramSocket()
        server = DatagramSocket.loopback(port: port)
        random = SplitMix64(seed: seed)
    }

    /// Passes on what waits, after at most 2 ms of waiting.
    static func turn(_ paths: [LossyPath]) {
        var descriptors = paths.flatMap { path in
            [path.front, path.back, path.router.video, path.router.audio].map {
                pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0)
            }
        }
        poll(&descriptors, nfds_t(descriptors.count), 2)
        for path in paths { path.passOn() }
    }

    private func passOn() {
        let now = ContinuousClock.now
        while let arrival = front.receive() {
            client = arrival.source
            upstream(arrival.bytes, at: now)
        }
        while let arrival = back.receive() {
            guard let client, !(arrival.bytes.isMedia && isHit()) else { continue }
            front.send(arrival.bytes, to: client)
        }
        while let arrival = router.video.receive() { video.noteArrival(arrival.bytes, at: now) }
        while let arrival = router.audio.receive() { audio.noteArrival(arrival.bytes, at: now) }
        if let held = delayed, now - held.since > .milliseconds(4) { release() }
    }

    private func upstream(_ bytes: [UInt8], at now: ContinuousClock.Instant) {
        guard bytes.isMedia else { return back.send(bytes, to: server) }
        let isHit = isHit()
        if let number = bytes.sequenceNumber {
            if bytes.isVideo {
                video.noteSent(number, isDropped: isHit, at: now)
            } else {
                audio.noteSent(number, isDropped: isHit, at: now)
            }
        }
        if isHit { return }
        if delayed == nil, self.isHit() {
            delayed = (bytes, now)
            return
        }
        back.send(bytes, to: server)
        release()
    }

    private func release() {
        if let delayed { back.send(delayed.bytes, to: server) }
        delayed = nil
    }

    private func isHit() -> Bool { random.next() % 100 < percent }
}

extension LossyPath.Track {
    fileprivate mutating func noteSent(_ number: UInt16, isDropped: Bool, at now: ContinuousClock.Instant) {
        guard sent[number] == nil else { return }
        sent[number] = now
        order.append(number)
        if isDropped { dropped += 1 }
    }

    fileprivate mutating func noteArrival(_ bytes: [UInt8], at now: ContinuousClock.Instant) {
        guard bytes.isMedia, let number = bytes.sequenceNumber else { return }
        if firstArrival == nil { firstArrival = number }
        if arrived[number] == nil { arrived[number] = now }
    }

    /// Of the packets sent, how many came out within `limit`; numbers on both ends differ by a constant.
    func arrived(within limit: Duration) -> Int {
        guard let firstArrival, let first = order.first else { return 0 }
        let offset = firstArrival &- first
        return order.count { number in
            guard let sent = sent[number], let arrived = arrived[number &+ offset] else { return false }
            return arrived - sent <= limit
        }
    }
}

extension [UInt8] {
    /// RTP or RTCP, protected or not (RFC 7983).
    fileprivate var isMedia: Bool { count >= 12 && self[0] >> 6 == 2 }
    /// Nil for RTCP (RFC 5761 §4).
    fileprivate var sequenceNumber: UInt16? {
        (192...223).contains(self[1]) ? nil : UInt16(self[2]) << 8 | UInt16(self[3])
    }
    fileprivate var isVideo: Bool { self[1] & 0x7F == 96 }
}
