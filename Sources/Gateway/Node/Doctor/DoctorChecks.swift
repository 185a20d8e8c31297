import CShim
import ControlPlane
import EventLoop
import Foundation
import OpenSSL
import RouterForwarding
public import Settings
import Sockets
import Wire

/// The doctor's questions, one function each.
public enum DoctorChecks {
    public static let all: [@Sendable (StagedoorConfiguration) -> [Finding]] = [
        listeners, accessKeys, advertisedAddresses, routers, certificates, keyFiles, dataDirectory, receiveBuffers, descriptors,
        clock, processors, libraries, cluster,
    ]

    /// Whoever holds a port is named, and may be the gateway itself; it may also have rights that the doctor has not. Whatever
    /// else keeps the doctor from binding keeps a gateway from starting.
    static func listeners(_ configuration: StagedoorConfiguration) -> [Finding] {
        let media = configuration.media
        let wanted: [(String, ListenAddress, BoundSocket.Transport)] = [
            ("http.listen", configuration.http.listen, .tcp), ("https.listen", configuration.https.listen, .tcp),
            ("rtmp.listen", configuration.rtmp.listen, .tcp), ("listen.shared", configuration.listen.shared, .tcp),
            ("media.listen", media.listen, .udp), ("media.listen", media.tcp ? media.listen : .off, .tcp),
            ("admin.listen", configuration.admin.listen, .tcp),
        ]
        return wanted.map { key, listen, transport in
            guard let address = listen.address else { return .fine("\(key) (\(transport)) is off") }
            do throws(SystemError) {
                _ = try BoundSocket.group(transport, address, count: 1)
                return .fine("\(key): \(address) (\(transport)) is free")
            } catch {
                let reason = StartupError.cannotListen(key: key, address: address, transport: transport, reason: error)
                let isPassing = [EADDRINUSE, EACCES, EPERM].contains(error.code)
                return isPassing ? .warning(reason.description) : .failure(reason.description)
            }
        }
    }

    /// A name in a deny list that is none denies nothing.
    static func accessKeys(_ configuration: StagedoorConfiguration) -> [Finding] {
        if configuration.lacksAccessKeys {
            return [.warning("accessKeys is empty: nobody can use the control API, or sign in to the console")]
        }
        let keys = configuration.accessKeys.sorted { $0.key < $1.key }
        let misspelt: [Finding] = keys.flatMap { name, key in
            [("allow", key.allow), ("deny", key.deny)].flatMap { list, patterns in
                patterns.filter { pattern in !AccessAction.all.contains { pattern.matches($0.name) } }.map {
                    .warning("accessKeys.\(name).\(list): there is no action \($0.text) (docs/api.md has the list)")
                }
            }
        }
        return brokenSecrets(keys) + misspelt
    }

    /// Most often it is the line break that ends the secret's file. Clients that have it from the same file may have it too.
    private static func brokenSecrets(_ keys: [(key: String, value: AccessKeySettings)]) -> [Finding] {
        keys.filter { $0.value.secret.reveal().contains { $0 < 0x20 } }.map {
            .warning("accessKeys.\($0.key).secret has a line break: most clients do not")
        }
    }

    static func advertisedAddresses(_ configuration: StagedoorConfiguration) -> [Finding] {
        let bound = configuration.media.listen.address?.ip ?? .anyV6
        let addresses: [IPAddress]
        do {
            addresses = try AdvertisedAddresses.list(configuration.advertise.addresses, bound: bound).filter { !$0.isLoopback }
        } catch { return [.failure("\(error)")] }  // the gateway would not start
        let list = addresses.map(\.description).joined(separator: ", ")
        if addresses.isEmpty {
            return [.warning("no address but loopback: WHIP works from this machine only; set advertise.addresses")]
        }
        if addresses.allSatisfy(\.isPrivate) {
            return [
                .warning("only private addresses are advertised (\(list)): encoders beyond this network need advertise.addresses")
            ]
        }
        return [.fine("advertised to WebRTC: \(list)")]
    }

    /// Those that are asked: whether our keys for them can be read, and their names lead anywhere.
    static func routers(_ configuration: StagedoorConfiguration) -> [Finding] {
        configuration.routers.filter(\.value.isAsked).sorted { $0.key < $1.key }.map { name, settings in
            do { try RouterService.checkKey(of: name, settings) } catch { return .failure("\(error)") }
            let addresses = RouterAddress.host(of: settings.url).map(HostAddresses.resolve) ?? []
            if addresses.isEmpty { return .warning("routers.\(name).url leads nowhere: nothing is sent there until it does") }
            return .fine("routers.\(name).url leads to \(addresses.map(\.description).joined(separator: ", "))")
        }
    }

    static func certificates(_ configuration: StagedoorConfiguration) -> [Finding] {
        let named = configuration.certificates.sorted { $0.key < $1.key }.map { name, settings in
            certificate("certificates.\(name)", settings.certificate, settings.privateKey)
        }
        guard !configuration.tls.certificate.isEmpty else {
            return [.warning("tls.certificate is not set: an authority of our own signs, which OBS and browsers do not trust")]
                + ownAuthority(configuration) + named
        }
        return [certificate("tls.certificate", configuration.tls.certificate, configuration.tls.privateKey)] + named
    }

    /// The clock of the first start may have been wrong, or ours is now.
    private static func ownAuthority(_ configuration: StagedoorConfiguration) -> [Finding] {
        let (path, now) = (configuration.store.directory + "/tls/ca.pem", EventLoop.wallNow())
        guard let pem = try? NamedFile.read(path), let authority = try? Certificate(pem: pem) else { return [] }
        guard authority.notBefore > now || authority.notAfter <= now else { return [] }
        let (begin, end) = (CivilTime(authority.notBefore).rfc3339, CivilTime(authority.notAfter).rfc3339)
        let cure =
            OwnAuthority.isOfOurName(authority)
            ? "clients need the file that the next start makes" : "renew it, or take it and ca.key away"
        return [.warning("\(path) is valid from \(begin) to \(end): check this machine's clock; if that is right, \(cure)")]
    }

    private static func certificate(_ name: String, _ certificate: String, _ privateKey: String) -> Finding {
        do {
            let identity = try Identity(
                chainPEM: NamedFile.read(certificate), keyPEM: Secret(NamedFile.read(privateKey)))
            _ = try TLSContext(server: identity)
            let (now, end) = (EventLoop.wallNow(), identity.certificate.notAfter)
            if end <= now { return .failure("\(name) expired at \(CivilTime(end).rfc3339)") }
            let begin = identity.certificate.notBefore
            if begin > now { return .failure("\(name) is not valid before \(CivilTime(begin).rfc3339)") }
            let days = (end - now).milliseconds / 86_400_000
            guard identity.isChainInOrder else { return .failure("\(name): a certificate is not signed by the one behind it") }
            if days < 14 { return .warning("\(name) expires in \(days) days") }
            return .fine("\(name): \(identity.certificate.subject), \(days) days left")
        } catch {
            return .failure("\(name): \(error)")
        }
    }

    /// A whole IDR frame and 10 ms of many streams must fit (184 packets fit the default).
    private static func receiveBuffers(_ configuration: StagedoorConfiguration) -> [Finding] {
        let wanted = configuration.media.receiveBuffer.bytes
        guard let granted = number(in: "/proc/sys/net/core/rmem_max") else { return [] }
        if granted >= wanted { return [.fine("UDP receive buffers: \(granted >> 10) KiB may be asked for")] }
        return [
            .warning(
                "UDP receive buffers are cut to \(granted >> 10) KiB: sysctl -w net.core.rmem_max=\(wanted) (needless with CAP_NET_ADMIN)"
            )
        ]
    }

    /// By the hard limit, to which `serve` raises its own.
    private static func descriptors(_ configuration: StagedoorConfiguration) -> [Finding] {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let (http, https) = (configuration.http.maximumConnections, configuration.https.maximumConnections)
        let wanted = configuration.rtmp.maximumConnections + http + https + configuration.admin.maximumConnections
        return limit.rlim_max >= wanted
            ? [.fine("descriptors: \(limit.rlim_max)")]
            : [.warning("descriptors: \(limit.rlim_max), the configured limits need \(wanted): ulimit -Hn, LimitNOFILE=")]
    }

    /// Tokens and SigV4 live by the clock: 60 s and 5 min of leeway.
    private static func clock(_ configuration: StagedoorConfiguration) -> [Finding] {
        shim_clock_is_synchronised() == 0
            ? [.warning("the clock is not synchronised: tokens and signed requests fail when it drifts")]
            : [.fine("the clock is synchronised")]
    }

    private static func processors(_ configuration: StagedoorConfiguration) -> [Finding] {
        [.fine("\(CPUAllowance.granted) processors are granted: as many workers by default")]
    }

    /// Debian's libsrtp2 on NSS costs four times the same library on OpenSSL and collapses with many sessions.
    private static func libraries(_ configuration: StagedoorConfiguration) -> [Finding] {
        LibraryCheck.warnings.map(Finding.warning)
            + [.fine("libraries: \(LibraryVersions.inUse.joined(separator: ", "))")]
    }

    private static func number(in path: String) -> Int? {
        (try? String(contentsOfFile: path, encoding: .utf8)).flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }
}
