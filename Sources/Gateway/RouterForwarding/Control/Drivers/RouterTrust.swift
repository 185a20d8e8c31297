import Wire

/// What a router's answer may name: a hijacked router must not aim our media at others.
struct RouterTrust: Sendable, Equatable {
    /// `media` of the configuration; by default what the router's URL resolved to at the start.
    var networks: [IPNetwork]
    /// Whether a router may name the address from which it answers too, as where the configuration has no networks: its name may
    /// lead elsewhere by then.
    var includesAnswerer = false
    /// Our own listeners: media sent there would come back as an attack on ourselves.
    var ownListeners: Set<SocketAddress>

    init(networks: [IPNetwork], ownListeners: Set<SocketAddress> = []) {
        (self.networks, self.ownListeners) = (networks, ownListeners)
    }

    func admits(_ address: SocketAddress) -> Bool {
        let ip = address.ip
        guard address.port != 0, !ip.isMulticast, !ip.isUnspecified, !ip.isLinkLocal, !isOwnListener(address) else {
            return false
        }
        return networks.contains { $0.contains(ip) }
    }

    /// What an answer from there may name; of a Janus, where the operator says that it takes media.
    func extended(by address: IPAddress?) -> RouterTrust {
        guard includesAnswerer, let address, let network = IPNetwork(address, prefixLength: address.isV4 ? 32 : 128) else {
            return self
        }
        var extended = self
        extended.networks.append(network)
        return extended
    }

    /// A listener on all addresses is ours on every one of them; on this machine that is loopback at least.
    private func isOwnListener(_ address: SocketAddress) -> Bool {
        ownListeners.contains { own in
            own.port == address.port && (own.ip == address.ip || own.ip.isUnspecified && address.ip.isLoopback)
        }
    }
}
