import EventLoop
import Foundation
import TestSupport
import Testing

@testable import Node

@Suite
struct ServiceNotifierTests {
    /// What the service manager has for us to talk to.
    private final class Manager {
        private let folder: TemporaryDirectory
        private let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        private var told: [String] = []

        init() throws {
            folder = try TemporaryDirectory()
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let name = Array(path.utf8)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
            let bound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(bound == 0)
        }

        deinit { close(descriptor) }

        var path: String { folder.path + "/notify" }

        /// Every line so far.
        var lines: [String] {
            var bytes = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = recv(descriptor, &bytes, bytes.count, 0)
                guard count > 0 else { return told }
                told += String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
            }
        }
    }

    @Test
    func `who passed its place on says nothing of its own, and who has it back is watched again`() throws {
        let (manager, loop) = (try Manager(), try EventLoop())
        let notifier = try #require(
            ServiceNotifier(loop: loop, environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "20000"]))
        notifier.ready()
        #expect(loop.run(until: { manager.lines.last == "WATCHDOG=1" }, within: .seconds(120)))
        notifier.passOn(to: 7)
        notifier.stop()
        #expect(!loop.run(until: { manager.lines.last != "MAINPID=7" }, within: .milliseconds(60)))
        notifier.takeBack()
        #expect(manager.lines.suffix(2) == ["MAINPID=\(getpid())", "READY=1"])
        #expect(loop.run(until: { manager.lines.last == "WATCHDOG=1" }, within: .seconds(120)))
        notifier.stop()
        #expect(manager.lines.last == "STOPPING=1")
    }
}
