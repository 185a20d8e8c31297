import EventLoop
import GatewayLogging
import Settings
import WebRTCTransport
import Wire

/// Looks twice a minute at where names of `advertise.addresses` lead and what the interfaces have, for the answers to come. A
/// line that is dialled anew each night has other addresses then, and a machine that has just started
/// may not have all of its own yet.
///
/// On the control loop; the system's resolver is asked on a thread that lives as long as its answer takes.
final class AdvertisedWatch {
    private let loop: EventLoop
    private let transport: TransportContext
    private let interval: Duration
    private let find: @Sendable () throws -> TransportConfiguration
    private let replies: ReplyBox
    private var timer: TimerWatch?

    /// - Parameter find: says where clients reach us now; may block.
    /// - Throws: when the kernel gives no more descriptors.
    init(
        loop: EventLoop, transport: TransportContext, every interval: Duration = usualInterval,
        find: @escaping @Sendable () throws -> TransportConfiguration
    ) throws(SystemError) {
        (self.loop, self.transport, self.interval, self.find) = (loop, transport, interval, find)
        replies = try ReplyBox(loop: loop)
        wait()
    }

    private func wait() {
        timer = loop.schedule(after: interval, tolerance: interval / 10) { [unowned self] in look() }
    }

    private func look() {
        replies.ask { [find] reply in
            _ = try? WorkerThread.start(name: "addresses") { if let found = try? find() { reply(found) } }
        } then: { [unowned self] (found: TransportConfiguration?) in
            if let found { take(found) }
            wait()
        }
    }

    /// Nothing but loopback is a moment without a network, and a name that leads nowhere one without a resolver: what was told
    /// before is true again soon.
    private func take(_ found: TransportConfiguration) {
        let addresses = found.advertisedAddresses
        guard addresses.contains(where: { !$0.ip.isLoopback }), transport.advertise(addresses, tcp: found.tcpAddresses) else {
            return
        }
        Log.event(.info, "advertised_addresses_changed", ["addresses": .strings(addresses.map(\.ip.description))])
    }

    static let usualInterval = Duration.seconds(30)
}

extension AdvertiseSettings {
    /// Whether clients are told of addresses alone that stand in the configuration.
    var hasFixedAddresses: Bool {
        !addresses.isEmpty && addresses.allSatisfy { if case .address = $0 { true } else { false } }
    }
}
