import Foundation
import TestSupport
import Testing

/// Random datagrams at 127.0.0.1 from several ports, as many a second as asked for or as the machine has.
///
/// They leave in runs of equal length, a system call for each run (UDP GSO); lengths and contents differ from run to run.
struct DatagramFlood {
    var port: UInt16
    /// So that each worker of the receiver gets its share.
    var sources = 8

    struct Sent {
        var datagrams = 0
        var seconds = 0.0
        var perSecond: Int { Int(Double(datagrams) / max(seconds, 0.001)) }
    }

    @discardableResult
    func run(perSecond: Int, seconds: Int) throws -> Sent {
        let sockets = try (0..<sources).map { _ in try connected() }
        defer { for descriptor in sockets { close(descriptor) } }
        var random = SplitMix64(seed: 3)
        var noise = (0..<131_072).map { _ in UInt8.random(in: 0...255, using: &random) }
        let start = ContinuousClock.now
        var sent = Sent()
        let ticks = seconds * Self.ticksPerSecond
        for tick in 1...ticks {
            while sent.datagrams < perSecond * tick / Self.ticksPerSecond, start.duration(to: .now) < .seconds(seconds) {
                let length = Int.random(in: 20...900, using: &random)
                // Every first byte there is, so that each kind of datagram has its share.
                let first = Int.random(in: 0..<65_536, using: &random)
                noise[first] = UInt8.random(in: 0...255, using: &random)
                let run = send(noise[first..<(first + length * Self.runLength)], of: length, on: sockets[tick % sources])
                sent.datagrams += run
            }
            let ahead = ContinuousClock.now.duration(to: start.advanced(by: .seconds(1) / Self.ticksPerSecond * tick))
            if ahead > .zero { poll(nil, 0, CInt(ahead / .milliseconds(1))) }
        }
        sent.seconds = start.duration(to: .now) / .seconds(1)
        return sent
    }

    /// Sends a run; how many datagrams it was.
    private func send(_ bytes: ArraySlice<UInt8>, of length: Int, on descriptor: CInt) -> Int {
        var segment = CInt(length)
        setsockopt(descriptor, CInt(IPPROTO_UDP), Self.segmentOption, &segment, socklen_t(MemoryLayout<CInt>.size))
        let count = bytes.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, 0) }
        return count > 0 ? count / length : 0
    }

    private func connected() throws -> CInt {
        let descriptor = socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw RawConnection.Fault.notConnected(errno) }
        return descriptor
    }

    /// The most that the kernel takes at a time are 64 datagrams and 65,507 bytes.
    private static let runLength = 60
    private static let ticksPerSecond = 200
    /// UDP_SEGMENT, which the C library's headers do not have.
    private static let segmentOption: CInt = 103
}

extension Gateway {
    /// A flood at the media port, of which each datagram was read and told apart, or dropped by the kernel, which says so.
    func takeGarbage(perSecond: Int, seconds: Int) throws -> (sent: DatagramFlood.Sent, dropped: Int) {
        let before = try metrics()
        let sent = try DatagramFlood(port: mediaPort).run(perSecond: perSecond, seconds: seconds)
        func change(_ names: String...) throws -> Int {
            let after = try metrics()
            return Int(names.reduce(0) { $0 + after.sum($1) - before.sum($1) })
        }
        let drops = "stagedoor_udp_rcvbuf_errors_total"
        try expect("every datagram is accounted for", within: .seconds(60)) {
            try change("stagedoor_media_garbage_total", "stagedoor_dtls_unverified_source_total", drops) >= sent.datagrams
        }
        return (sent, try change(drops))
    }
}
