import EventLoop
import Glibc
import Handover
import Settings
import Sockets
import Testing
import Wire

@testable import Node

@Suite
struct ListenersTests {
    private func quiet() -> StagedoorConfiguration {
        var configuration = StagedoorConfiguration()
        configuration.http.listen = .off
        configuration.https.listen = .off
        configuration.rtmp.listen = .off
        configuration.media.listen = .off
        configuration.admin.listen = .off
        return configuration
    }

    private static let anyPort = SocketAddress(.loopback, port: 0)

    @Test
    func `a taken port is named, and who has it`() throws {
        let held = try BoundSocket(.udp, Self.anyPort)
        var configuration = quiet()
        configuration.media.listen = ListenAddress(held.localAddress)
        let error = #expect(throws: StartupError.self) { try Listeners(configuration, workers: 1) }
        let words = error?.description ?? ""
        #expect(words.hasPrefix("media.listen: cannot listen on \(held.localAddress) (udp): "))
        #expect(words.contains("; held by ") && words.contains("(pid \(getpid()))"), "\(words)")
    }

    /// 192.0.2.1 (TEST-NET-1) is an address of no machine.
    @Test
    func `an address that is not this machine's is not held by whoever has the port at another one`() throws {
        let held = try BoundSocket(.udp, Self.anyPort)
        var configuration = quiet()
        configuration.media.listen = ListenAddress(
            SocketAddress(try #require(IPAddress("192.0.2.1")), port: held.localAddress.port))
        let error = #expect(throws: StartupError.self) { try Listeners(configuration, workers: 1) }
        #expect(error?.description.contains("held by") == false, "\(error?.description ?? "")")
    }

    @Test
    func `sockets that are given and asked for are taken, one for each worker`() throws {
        let first = try BoundSocket.group(.tcp, Self.anyPort, count: 1)
        var configuration = quiet()
        configuration.http.listen = ListenAddress(first[0].localAddress)
        let listeners = try Listeners(configuration, workers: 2) { kind in
            kind == .http ? GivenSockets(kind, [OwnedDescriptor(dup(first[0].descriptor.number))], areBinding: false) : nil
        }
        #expect(listeners.publicHTTP.map(\.localAddress) == [first[0].localAddress, first[0].localAddress])
        #expect(listeners.addresses == [first[0].localAddress])
        #expect(listeners.places == ["http \(first[0].localAddress)"])
    }

    /// A router on this machine could otherwise name one of them by any address but loopback.
    @Test
    func `a listener on all addresses is at each of the machine's`() throws {
        var configuration = quiet()
        configuration.http.listen = ListenAddress(SocketAddress(.anyV4, port: 0))
        let listeners = try Listeners(configuration, workers: 1)
        let bound = listeners.publicHTTP[0].localAddress
        let (own, further) = (try #require(IPAddress("192.0.2.7")), try #require(IPAddress("2001:db8::7")))
        let addresses = listeners.addresses(onInterfaces: [own, further])
        #expect(addresses == [bound, SocketAddress(own, port: bound.port)], "IPv6 is not among them")
        #expect(listeners.addresses.contains(SocketAddress(.loopback, port: bound.port)))
    }

    @Test
    func `sockets of another address than the configuration's are left, unless the operator gave them`() throws {
        let first = try BoundSocket.group(.tcp, Self.anyPort, count: 1)
        let other = try BoundSocket.group(.tcp, Self.anyPort, count: 1)
        var configuration = quiet()
        configuration.http.listen = ListenAddress(first[0].localAddress)
        for areBinding in [false, true] {
            let listeners = try Listeners(configuration, workers: 1) { kind in
                guard kind == .http else { return nil }
                return GivenSockets(kind, [OwnedDescriptor(dup(other[0].descriptor.number))], areBinding: areBinding)
            }
            #expect(listeners.publicHTTP[0].localAddress == (areBinding ? other : first)[0].localAddress)
        }
    }

    @Test
    func `an admin socket that others reach is not taken where nobody has to sign`() throws {
        let open = try BoundSocket.group(.tcp, SocketAddress(.anyV4, port: 0), count: 1)[0]
        var configuration = quiet()
        configuration.admin.listen = ListenAddress(Self.anyPort)
        func listeners(_ auth: AdminSettings.Authentication) throws -> Listeners {
            configuration.admin.auth = auth
            return try Listeners(configuration, workers: 1) { kind in
                kind == .admin ? GivenSockets(kind, [OwnedDescriptor(dup(open.descriptor.number))], areBinding: true) : nil
            }
        }
        #expect(try listeners(.sigv4).admin?.localAddress == open.localAddress)
        let error = #expect(throws: StartupError.self) { try listeners(.none) }
        #expect(error?.description.hasPrefix("admin.auth: none is for a loopback socket only") == true)
    }

    @Test
    func `a running process's listeners of another address are unused, and nothing else of it`() throws {
        let (kept, moved) = (try BoundSocket(.tcp, Self.anyPort), try BoundSocket(.tcp, Self.anyPort))
        var configuration = quiet()
        configuration.http.listen = ListenAddress(kept.localAddress)
        configuration.https.listen = ListenAddress(SocketAddress("127.0.0.2:0"))
        let (lock, line) = (OwnedDescriptor(dup(0)), OwnedDescriptor(dup(0)))
        let inherited = [
            SocketRole(.http): kept.descriptor, SocketRole(.https): moved.descriptor, SocketRole(.lock): lock,
            SocketRole(.life): line,
        ]
        let listeners = try Listeners(configuration, workers: 1) { kind in
            GivenSockets(kind, inherited[SocketRole(kind)].map { [$0] } ?? [], areBinding: false)
        }
        #expect(Set(listeners.unused(of: inherited).keys) == [SocketRole(.https)])
    }

    @Test
    func `the media port of a running process is kept, or its place is not taken`() throws {
        let former = try BoundSocket(.udp, Self.anyPort)
        var configuration = quiet()
        configuration.media.tcp = false
        func check(_ listen: ListenAddress) throws {
            configuration.media.listen = listen
            let listeners = try Listeners(configuration, workers: 1) { kind in
                kind == .media ? GivenSockets(kind, [former.descriptor], areBinding: false) : nil
            }
            try listeners.checkMedia(of: [SocketRole(.media): former.descriptor])
        }
        try check(ListenAddress(former.localAddress))
        let elsewhere = ListenAddress(SocketAddress("127.0.0.2:0"))
        #expect(throws: HandoverError.mediaMoved) { try check(elsewhere) }
        #expect(throws: HandoverError.mediaMoved) { try check(.off) }
    }

    @Test
    func `an address that systemd's unit decided counts in every process after the first`() throws {
        let unit = try BoundSocket(.tcp, Self.anyPort)
        var configuration = quiet()
        configuration.https.listen = ListenAddress(SocketAddress("127.0.0.2:0"))
        let first = try Listeners(configuration, workers: 1) { kind in
            kind == .https ? GivenSockets(kind, [unit.descriptor], areBinding: true) : nil
        }
        #expect(first.activated == [.https])
        let next = try Listeners(configuration, workers: 1) { kind in
            let handed = first.handedOver.filter { $0.0.kind == kind }.map(\.1)
            return GivenSockets(kind, handed, areBinding: first.activated.contains(kind))
        }
        #expect(next.publicHTTPS.map(\.localAddress) == [unit.localAddress] && next.activated == [.https])
    }

    /// As of a unit that is written for two processors on a machine of three.
    @Test
    func `systemd's sockets are one, or one for each worker, or it is told`() throws {
        let unit = try BoundSocket.group(.udp, Self.anyPort, count: 2)
        var configuration = quiet()
        (configuration.media.listen, configuration.media.tcp) = (ListenAddress(unit[0].localAddress), false)
        func listeners(_ workers: Int, areBinding: Bool) throws -> Listeners {
            try Listeners(configuration, workers: workers) { kind in
                guard kind == .media else { return nil }
                return GivenSockets(kind, unit.map { OwnedDescriptor(dup($0.descriptor.number)) }, areBinding: areBinding)
            }
        }
        #expect(try listeners(2, areBinding: true).media.count == 2)
        let error = #expect(throws: StartupError.self) { try listeners(3, areBinding: true) }
        #expect(error?.description.contains("2 sockets are “media” and there are 3 workers") == true)
        configuration.media.listen = .off
        #expect(try listeners(3, areBinding: true).media.isEmpty)
    }

    @Test
    func `systemd's sockets are for the process it names, under names of ours`() throws {
        #expect(try SocketActivation.take(from: [:]).isEmpty)
        #expect(try SocketActivation.take(from: ["LISTEN_PID": "1", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "http"]).isEmpty)
        #expect(throws: StartupError.self) {
            try SocketActivation.take(from: ["LISTEN_PID": "\(getpid())", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "gopher"])
        }
    }
}
