import GatewayMetrics
import Testing
import Wire

@testable import WebRTCTransport

@Suite("Datagrams between workers")
struct DatagramRingTests {
    private let entry: StubEntry
    private let path = MediaPath(remote: SocketAddress(.loopback, port: 7))

    init() throws {
        entry = StubEntry(
            on: try TransportContext(
                configuration: TransportConfiguration(advertisedAddresses: [SocketAddress(.loopback, port: 9)]), workerCount: 1,
                metrics: TransportMetrics(MetricsRegistry())))
    }

    private func push(_ bytes: [UInt8], into ring: DatagramRing) -> Bool {
        bytes.withUnsafeBytes {
            ring.push($0, of: entry, isValidated: true, path: path, arrival: MonotonicTime(nanoseconds: Int64($0.count)))
        }
    }

    @Test func `come out as they went in, where they lie, and make room when they are released`() {
        let ring = DatagramRing()
        for round in 0..<3 {
            for index in 0..<DatagramRing.slotCount {
                let isPushed = push([UInt8](repeating: UInt8(index), count: 1 + index), into: ring)
                #expect(isPushed)
            }
            #expect(!push([1], into: ring), "full, in round \(round)")
            var index = 0
            ring.drain { bytes, slot in
                #expect(bytes.count == 1 + index && bytes.allSatisfy { $0 == UInt8(index) })
                #expect(slot.entry === entry && slot.path == path && slot.arrival.nanoseconds == Int64(bytes.count))
                bytes[0] = 0xFF
                index += 1
            }
            #expect(index == DatagramRing.slotCount && !push([1], into: ring), "still in use")
            ring.release()
        }
    }

    @Test func `the longest datagram fits, and a longer one does not`() {
        let ring = DatagramRing()
        #expect(push([UInt8](repeating: 5, count: DatagramRing.slotByteCount), into: ring))
        #expect(!push([UInt8](repeating: 5, count: DatagramRing.slotByteCount + 1), into: ring))
        #expect(push([], into: ring))
        var counts: [Int] = []
        ring.drain { bytes, _ in counts.append(bytes.count) }
        #expect(counts == [DatagramRing.slotByteCount, 0])
    }
}
