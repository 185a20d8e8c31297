import CShim
import Wire

extension SocketAddress {
    /// Nil for an unknown family, such as a UNIX socket's.
    init?(_ address: shim_address) {
        guard let ip = IPAddress(address) else { return nil }
        self.init(ip, port: address.port)
    }

    var shim: shim_address {
        var address = ip.shim
        address.port = port
        return address
    }
}

extension IPAddress {
    init?(_ address: shim_address) {
        switch address.family {
        case 4: self = .v4(UInt32(truncatingIfNeeded: address.low))
        case 6: self = .v6(high: address.high, low: address.low, scope: address.scope)
        default: return nil
        }
    }

    var shim: shim_address {
        switch self {
        case .v4(let address): shim_address(high: 0, low: UInt64(address), scope: 0, port: 0, family: 4)
        case .v6(let high, let low, let scope): shim_address(high: high, low: low, scope: scope, port: 0, family: 6)
        }
    }
}
