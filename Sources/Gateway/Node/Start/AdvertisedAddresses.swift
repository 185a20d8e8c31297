import Settings
import Wire

/// The addresses given to WebRTC clients: what the operator set replaces what the interfaces have.
enum AdvertisedAddresses {
    /// In the operator's order, each once.
    /// - Parameter bound: what the media port is bound to.
    static func list(_ configured: [AdvertisedAddress], bound: IPAddress) throws(StartupError) -> [IPAddress] {
        var found: [IPAddress] = []
        for entry in configured.isEmpty ? [.interfaces] : configured {
            for address in try addresses(of: entry, bound: bound) where !found.contains(address) { found.append(address) }
        }
        return found
    }

    private static func addresses(of entry: AdvertisedAddress, bound: IPAddress) throws(StartupError) -> [IPAddress] {
        switch entry {
        case .address(let address): return [address]
        case .interfaces: return bound.isUnspecified ? interfaces(bound) : [bound]
        case .name(let name):
            let addresses = HostAddresses.resolve(name)
            guard !addresses.isEmpty else { throw .advertise("advertise.addresses: “\(name)” cannot be resolved") }
            return addresses
        }
    }

    /// IPv4 first: some clients take the first candidate only. Loopback last: it is for this machine.
    private static func interfaces(_ bound: IPAddress) -> [IPAddress] {
        let usable = InterfaceAddresses.all.filter { !$0.isLinkLocal && (!bound.isV4 || $0.isV4) }
        return usable.filter { $0.isV4 && !$0.isLoopback } + usable.filter { !$0.isV4 && !$0.isLoopback }
            + usable.filter { $0 == .loopback }
    }
}
