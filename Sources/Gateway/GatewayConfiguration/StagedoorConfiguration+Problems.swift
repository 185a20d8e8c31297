public import Settings
import Wire

/// The rules between keys.
extension StagedoorConfiguration {
    typealias Problem = ConfigurationError.Problem

    /// Everything that is wrong with a configuration whose every value alone is right.
    public var problems: [ConfigurationError.Problem] {
        listenerProblems + certificateProblems + adminProblems + routerProblems + urlProblems + advertiseProblems
            + iceServerProblems + contractProblems + storageProblems + clusterProblems
    }

    private var listenerProblems: [Problem] {
        // Without ICE-TCP the media port takes a number for UDP alone.
        let media = media.tcp ? [("media.listen", media.listen)] : []
        let listeners =
            [("http.listen", http.listen), ("https.listen", https.listen), ("rtmp.listen", rtmp.listen)] + media
            + [("listen.shared", listen.shared), ("admin.listen", admin.listen)]
        let bound: [(key: String, address: SocketAddress)] = listeners.compactMap { key, listen in
            listen.address.map { (key, $0) }
        }
        return bound.indices.compactMap { index in
            let (key, address) = bound[index]
            guard let other = bound[..<index].first(where: { Self.areOnePlace($0.address, address) }) else { return nil }
            return Problem(key: key, message: "port \(address.port) is taken by \(other.key)")
        }
    }

    /// Two addresses of this machine have each port once, and all addresses have it with each of them.
    private static func areOnePlace(_ one: SocketAddress, _ other: SocketAddress) -> Bool {
        guard one.port == other.port, one.port != 0 else { return false }
        return includes(one.ip, other.ip) || includes(other.ip, one.ip)
    }

    /// Whether who listens at the one address listens at the other too: `0.0.0.0` is all of IPv4, `[::]` all of both.
    private static func includes(_ one: IPAddress, _ other: IPAddress) -> Bool {
        one == other || one == .anyV6 || one == .anyV4 && other.isV4
    }

    private var certificateProblems: [Problem] {
        var pairs = certificates.map { ("certificates.\($0.key)", $0.value.certificate, $0.value.privateKey) }
        if !tls.certificate.isEmpty || !tls.privateKey.isEmpty { pairs.append(("tls", tls.certificate, tls.privateKey)) }
        return pairs.filter { $1.isEmpty || $2.isEmpty }.map { path, _, _ in
            Problem(key: path, message: "certificate and privateKey belong together: one is missing")
        }
    }

    private var adminProblems: [Problem] {
        var problems = platformProblems
        if admin.auth == .none, !admin.listen.isLoopback {
            problems.append(Problem(key: "admin.auth", message: "none is for a loopback admin.listen only: expected sigv4"))
        }
        // A port behind an address is passed over when requests come.
        for host in admin.hosts where !Self.isHost(host) && SocketAddress(host) == nil {
            let message = "\"\(host.prefix(80))\" is not taken: expected a host name or an IP address alone"
            problems.append(Problem(key: "admin.hosts", message: message))
        }
        return problems + accessKeyProblems
    }

    private var accessKeyProblems: [Problem] {
        var problems: [Problem] = []
        for (name, key) in accessKeys where key.id.isEmpty || key.secret.count < 16 {
            problems.append(Problem(key: "accessKeys.\(name)", message: "needs an id, and a secret of at least 16 characters"))
        }
        // It stands in `Credential=ID/…, `.
        for (name, key) in accessKeys where !key.id.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x2C && $0 != 0x2F }) {
            problems.append(Problem(key: "accessKeys.\(name).id", message: "expected visible ASCII without comma and slash"))
        }
        for (name, key) in accessKeys where accessKeys.contains(where: { $0.key < name && $0.value.id == key.id }) {
            problems.append(Problem(key: "accessKeys.\(name).id", message: "another access key has the same id"))
        }
        for (name, key) in accessKeys where key.lengthOfLongestList > AccessKeySettings.maximumEntries {
            let message = "each of its lists may have at most \(AccessKeySettings.maximumEntries) entries"
            problems.append(Problem(key: "accessKeys.\(name)", message: message))
        }
        return problems
    }

    private var platformProblems: [Problem] {
        var problems: [Problem] = []
        if !Self.isRegion(platform.region) {
            let message = "\"\(platform.region.prefix(80))\" is not taken: expected 1 to 32 of a to z, 0 to 9 and -"
            problems.append(Problem(key: "platform.region", message: message))
        }
        if platform.account.utf8.count != 12 || !platform.account.utf8.allSatisfy({ (48...57).contains($0) }) {
            problems.append(Problem(key: "platform.account", message: "\"\(platform.account)\" is not taken: expected 12 digits"))
        }
        return problems
    }

    /// As the API model has it in ARNs and stream keys.
    private static func isRegion(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }

    private var routerProblems: [Problem] {
        guard !routers.isEmpty else { return [Problem(key: "routers", message: "needs at least one router")] }
        return routers.compactMap { name, router in
            switch router.driver {
            case .announce where router.url.isEmpty, .janus where router.url.isEmpty:
                Problem(key: "routers.\(name).url", message: "is needed by driver \(router.driver.rawValue)")
            case .announce where router.srtp && !RouterSettings.isPrivate(router.url),
                .janus where router.srtp && !RouterSettings.isPrivate(router.url):
                Problem(key: "routers.\(name).srtp", message: "needs a url of https:// or of this machine: it carries the keys")
            case .static where router.host.isEmpty: Problem(key: "routers.\(name).host", message: "is needed by driver static")
            case .janus where !router.host.isEmpty && IPAddress(router.host) == nil, .static where IPAddress(router.host) == nil:
                Problem(
                    key: "routers.\(name).host",
                    message: "\"\(router.host.prefix(80))\" is not taken: expected \(IPAddress.expectation)")
            case .announce, .embedded, .janus: nil
            case .static where router.ports.last - router.ports.first < (router.sendsLayers ? 7 : 3):
                Problem(
                    key: "routers.\(name).ports",
                    message: "needs room for \(router.sendsLayers ? "four" : "two") even ports and the odd ones behind them")
            case .static: nil
            }
        }
    }

    private var urlProblems: [Problem] {
        var urls: [(key: String, url: String, schemes: [String])] = [
            ("endpoints.whip", endpoints.whip, ["http", "https"]), ("endpoints.rtmp", endpoints.rtmp, ["rtmp"]),
            ("endpoints.rtmps", endpoints.rtmps, ["rtmps"]), ("endpoints.events", endpoints.events, ["wss", "ws"]),
            ("authorize.url", authorize.url, ["http", "https"]), ("cluster.url", cluster.url, ["http", "https"]),
            ("cluster.publicURL", cluster.publicURL, ["http", "https"]),
        ]
        urls += routers.map { ("routers.\($0.key).url", $0.value.url, ["http", "https"]) }
        urls += webhooks.map { ("webhooks.\($0.key).url", $0.value.url, ["http", "https"]) }
        urls += storage.map { ("storage.\($0.key).endpoint", $0.value.endpoint, ["http", "https"]) }
        var problems = urls.filter { !$0.url.isEmpty && !Self.isURL($0.url, schemes: $0.schemes) }.map { key, url, schemes in
            Problem(
                key: key,
                message:
                    "\"\(url.withoutCredentials.prefix(80))\" is not taken: expected a URL that begins with \(schemes.joined(separator: ":// or "))://"
            )
        }
        problems += webhooks.filter(\.value.url.isEmpty).map { Problem(key: "webhooks.\($0.key).url", message: "is needed") }
        return problems
    }

    private var advertiseProblems: [Problem] {
        var problems: [Problem] = []
        if !Self.isHost(advertise.host) {
            let message = "\"\(advertise.host.prefix(80))\" is not taken: expected a host name or an IP address alone"
            problems.append(Problem(key: "advertise.host", message: message))
        }
        return problems
    }

    /// They stand in header fields, and OBS splits those at every comma.
    private var iceServerProblems: [Problem] {
        let forbidden = Set(",;<>\"".utf8)
        return whip.iceServers.filter { url in
            !["stun:", "stuns:", "turn:", "turns:"].contains { url.hasPrefix($0) && url.utf8.count > $0.utf8.count }
                || !url.utf8.allSatisfy { (0x21...0x7E).contains($0) && !forbidden.contains($0) }
        }.map { url in
            Problem(
                key: "whip.iceServers",
                message:
                    "\"\(url.prefix(80))\" is not taken: expected a URL such as stun:host:3478 or turn:host:3478?transport=udp")
        }
    }

    /// What may stand between `://` and a port; IPv6 with or without brackets. Empty is taken.
    private static func isHost(_ text: String) -> Bool {
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        return IPAddress(bare) != nil || text.utf8.allSatisfy { YAMLText.isLetterOrDigit($0) || [0x2D, 0x2E, 0x5F].contains($0) }
    }

    /// `scheme://host…` of visible ASCII.
    private static func isURL(_ text: String, schemes: [String]) -> Bool {
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let scheme = schemes.first(where: { text.hasPrefix("\($0)://") })
        else { return false }
        return text.dropFirst(scheme.utf8.count + 3).first.map { $0 != "/" && $0 != ":" } ?? false
    }

    private var contractProblems: [Problem] {
        var problems: [Problem] = []
        if contract.frameRate.minimum > contract.frameRate.maximum {
            problems.append(Problem(key: "contract.frameRate.minimum", message: "is above contract.frameRate.maximum"))
        }
        if contract.profile.limit.isEmpty, contract.profile.action != .off {
            problems.append(Problem(key: "contract.profile.limit", message: "needs at least one profile"))
        }
        return problems
    }
}

/// The rules between the keys of a cluster and others.
extension StagedoorConfiguration {
    var clusterProblems: [Problem] {
        var problems = cluster.isConfigured ? neededByCluster : uselessAlone
        let isName = cluster.node.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        if !isName || cluster.node.utf8.count > Self.maximumNodeNameLength {
            problems.append(
                Problem(
                    key: "cluster.node",
                    message: "is not taken: expected at most \(Self.maximumNodeNameLength) letters and digits"))
        }
        return problems
    }

    private var neededByCluster: [Problem] {
        var problems: [Problem] = []
        if cluster.platformKeyFile.isEmpty {
            problems.append(Problem(key: "cluster.platformKeyFile", message: "is needed: `openssl rand -out FILE 32` makes one"))
        }
        if cluster.url.isEmpty, advertise.host.isEmpty, http.listen.address?.ip.isUnspecified ?? true {
            problems.append(
                Problem(key: "cluster.url", message: "is needed: neither advertise.host nor http.listen names this node"))
        }
        if (cluster.topology == .sentinel) == cluster.primary.isEmpty {
            let message = cluster.primary.isEmpty ? "is needed by topology sentinel" : "is for topology sentinel only"
            problems.append(Problem(key: "cluster.primary", message: message))
        }
        if !cluster.user.isEmpty, cluster.password.isEmpty {
            problems.append(Problem(key: "cluster.user", message: "has no cluster.password"))
        }
        if cluster.keyPrefix.utf8.contains(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") || $0 <= 0x20 }) {
            problems.append(
                Problem(key: "cluster.keyPrefix", message: "may hold no braces and no blanks: they choose Redis's slots"))
        }
        problems += redisTLSProblems
        // Each node hands out ports of its own: two of them would send to the same one.
        problems += routers.filter { $1.driver == .static && !Self.isLoopback($1.host) }.keys.sorted().map { name in
            Problem(
                key: "routers.\(name).driver", message: "static routers belong to one node: a cluster needs announce or janus")
        }
        return problems
    }

    /// Files of certificates that nobody would read, or a half of a pair.
    private var redisTLSProblems: [Problem] {
        if cluster.redisCertificate.isEmpty != cluster.redisPrivateKey.isEmpty {
            let key = cluster.redisCertificate.isEmpty ? "cluster.redisCertificate" : "cluster.redisPrivateKey"
            return [Problem(key: key, message: "is needed: certificate and key come together")]
        }
        let files = [
            ("cluster.redisCertificateAuthority", cluster.redisCertificateAuthority),
            ("cluster.redisCertificate", cluster.redisCertificate),
        ]
        return cluster.redisTLS
            ? [] : files.filter { !$1.isEmpty }.map { Problem(key: $0.0, message: "does nothing without cluster.redisTLS") }
    }

    /// Somebody who set these believes to have a cluster.
    private var uselessAlone: [Problem] {
        let settings: [(key: String, isSet: Bool)] = [
            ("primary", !cluster.primary.isEmpty), ("user", !cluster.user.isEmpty), ("password", !cluster.password.isEmpty),
            ("platformKeyFile", !cluster.platformKeyFile.isEmpty), ("url", !cluster.url.isEmpty),
            ("publicURL", !cluster.publicURL.isEmpty), ("redisTLS", cluster.redisTLS),
        ]
        return settings.filter(\.isSet).map { Problem(key: "cluster.\($0.key)", message: "does nothing without cluster.redis") }
    }

    private static func isLoopback(_ host: String) -> Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

    /// It stands in the ids of sessions.
    static let maximumNodeNameLength = 32
}
