import EventLoop
import Foundation
import Wire

/// Notifies systemd of our state (sd_notify(3)): ready, alive, stopping. Nil where no one asked. On the control loop, whose
/// turning is what the watchdog watches.
final class ServiceNotifier: NodeService {
    private let descriptor: CInt
    private var address = sockaddr_un()
    private let length: socklen_t
    private let loop: EventLoop
    /// How often we say that we are alive; nil where no one asked.
    private let interval: Duration?
    private var watchdog: TimerWatch?
    /// Whether we are the service's main process, and its state is ours to tell.
    private var isMain = false

    init?(loop: EventLoop, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.loop = loop
        let microseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init) ?? 0
        interval = microseconds > 0 ? Duration.microseconds(microseconds / 2) : nil
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
        startWatchdog()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func ready() {
        isMain = true
        send("READY=1")
    }

    /// Another process is the service's main one from now on: nothing is expected of us any more.
    func passOn(to process: Int32) {
        send("MAINPID=\(process)")
        (isMain, watchdog) = (false, nil)
    }

    /// That process is gone, and we are the main one again, watched as before.
    func takeBack() {
        isMain = true
        send("MAINPID=\(getpid())\nREADY=1")
        startWatchdog()
    }

    /// The service goes on where another process is the main one: then our end is not its end.
    func stop() { if isMain { send("STOPPING=1") } }

    /// The first message goes at once: the service manager counts from the last one, which may be another process's.
    private func startWatchdog() {
        guard let interval, watchdog == nil else { return }
        watchdog = loop.schedule(after: .zero, repeating: interval) { [unowned self] in send("WATCHDOG=1") }
    }

    private func send(_ state: String) {
        let text = Array(state.utf8)
        _ = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }
}
