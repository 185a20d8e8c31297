import EventLoop
import GatewayMetrics
import SDP
import Settings
import Testing
import WebRTCTransport
import Wire

@testable import Node

/// What clients are told where the machine's addresses, or those behind its name, change.
@Suite(.timeLimit(.minutes(10)))
struct AdvertisedWatchTests {
    static let former = SocketAddress(.v4(0xC000_0201), port: 3_478)
    static let present = SocketAddress(.v4(0xC000_0202), port: 3_478)
    static let loopback = SocketAddress(.loopback, port: 3_478)

    /// A media port that was reached at `former`, and is looked after all the time.
    private final class Bench {
        let transport: TransportContext
        private let loop: EventLoop
        private let looks: Lock<Int>
        private let watch: AdvertisedWatch

        /// - Parameter addresses: where it is reached now; nil where nobody can tell.
        init(_ addresses: [SocketAddress]?) throws {
            let looks = Lock(0)
            (loop, self.looks) = (try EventLoop(), looks)
            transport = try TransportContext(
                configuration: TransportConfiguration(advertisedAddresses: [AdvertisedWatchTests.former]), workerCount: 1,
                metrics: TransportMetrics(MetricsRegistry()))
            watch = try AdvertisedWatch(loop: loop, transport: transport, every: .milliseconds(1)) {
                looks.withLock { $0 += 1 }
                guard let addresses else { throw StartupError.advertise("nobody knows") }
                return TransportConfiguration(advertisedAddresses: addresses, tcpAddresses: addresses)
            }
        }

        /// Waits until what was found once has been taken, or not.
        func look() -> Bool {
            loop.run(
                until: {
                    let count = looks.withLock { $0 }
                    return count > 1
                }, within: .seconds(60))
        }
    }

    @Test func `answers name the addresses that are there`() throws {
        let bench = try Bench([Self.present])
        #expect(bench.look())
        #expect(bench.transport.advertisedAddresses == [Self.present])
        #expect(bench.transport.candidates.compactMap(\.address) == [Self.present, Self.present], "by UDP and by TCP")
    }

    @Test(arguments: [nil, [], [loopback]] as [[SocketAddress]?])
    func `a moment without a network or a resolver changes nothing`(_ addresses: [SocketAddress]?) throws {
        let bench = try Bench(addresses)
        #expect(bench.look())
        #expect(bench.transport.advertisedAddresses == [Self.former])
    }

    @Test func `the same addresses in another order are no news`() throws {
        let both = [Self.former, Self.present]
        let transport = try TransportContext(
            configuration: TransportConfiguration(advertisedAddresses: both, tcpAddresses: both), workerCount: 1,
            metrics: TransportMetrics(MetricsRegistry()))
        #expect(!transport.advertise(both.reversed(), tcp: both.reversed()))
        #expect(transport.advertisedAddresses == both)
        #expect(transport.advertise(both, tcp: [Self.present]))
        #expect(transport.advertise([Self.present], tcp: [Self.present]))
    }

    @Test func `only what may change is looked at`() {
        var settings = AdvertiseSettings()
        #expect(!settings.hasFixedAddresses)
        settings.addresses = [.address(.loopback)]
        #expect(settings.hasFixedAddresses)
        settings.addresses = [.address(.loopback), .name("gateway.example")]
        #expect(!settings.hasFixedAddresses)
    }
}
