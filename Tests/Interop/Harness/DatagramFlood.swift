import Foundation
import TestSupport

/// Random datagrams at 127.0.0.1, as many a second as asked for or as the machine has.
struct DatagramFlood {
    var port: UInt16

    func run(perSecond: Int, seconds: Int) throws {
        let descriptor = socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw RawConnection.Fault.notConnected(errno) }
        var random = SplitMix64(seed: 3)
        let noise = (0..<65_536).map { _ in UInt8.random(in: 0...255, using: &random) }
        let start = ContinuousClock.now
        let turn = perSecond / 100
        for part in 0..<(seconds * 100) {
            noise.withUnsafeBytes { bytes in
                for index in 0..<turn {
                    _ = send(descriptor, bytes.baseAddress! + (part * 31 + index * 7) % 64_000, 20 + index % 1_000, 0)
                }
            }
            let ahead = ContinuousClock.now.duration(to: start.advanced(by: .milliseconds(10 * (part + 1))))
            if ahead > .zero { poll(nil, 0, CInt(ahead / .milliseconds(1))) }
        }
    }
}
