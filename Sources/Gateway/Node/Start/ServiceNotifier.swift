import EventLoop
import Foundation
import Wire

/// Notifies systemd of our state (sd_notify(3)): ready, alive, stopping. Nil where no one asked. On the control loop, whose turning is
/// what the watchdog watches.
final class ServiceNotifier: NodeService {
    private let descriptor: CInt
    private var address = sockaddr_un()
    private let length: socklen_t
    private var watchdog: TimerWatch?

    init?(loop: EventLoop, environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@") else { return nil }
        var name = Array(path.utf8)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        // An abstract address begins with a zero and has no end but its length.
        if path.hasPrefix("@") { name[0] = 0 }
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        guard let microseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init), microseconds > 0 else { return }
        let interval = Duration.microseconds(microseconds / 2)
        watchdog = loop.schedule(after: interval, repeating: interval) { [unowned self] in send("WATCHDOG=1") }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Another process is the service's main one from now on: nothing is expected of us any more.
    func passOn(to process: Int32) {
        send("MAINPID=\(process)")
        watchdog = nil
    }

    func stop() { send("STOPPING=1") }

    func send(_ state: String) {
        let text = Array(state.utf8)
        _ = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }
}
