public import Wire

/// One entry of `advertise.addresses`: where clients reach this machine.
public enum AdvertisedAddress: Equatable, Sendable {
    case address(IPAddress)
    /// A host name, looked up at the start.
    case name(String)
    /// `auto`: what the interfaces have.
    case interfaces
}

extension AdvertisedAddress: ScalarValue {
    init?(text: String) {
        if text == "auto" {
            self = .interfaces
        } else if let address = IPAddress(text) {
            self = .address(address)
        } else if Self.isHostName(text) {
            self = .name(text)
        } else {
            return nil
        }
    }

    var text: String {
        switch self {
        case .address(let address): address.description
        case .name(let name): name
        case .interfaces: "auto"
        }
    }

    static var expectation: String { "an IP address, a host name, or auto" }

    /// RFC 1123 §2.1: labels of letters, digits and hyphens; the last one is not all digits, which would be half an address.
    private static func isHostName(_ text: String) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...maximumNameLength).contains(text.utf8.count), let last = labels.last, !last.allSatisfy(\.isNumber) else {
            return false
        }
        return labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy { byte in
                    switch byte {
                    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D: true
                    default: false
                    }
                }
        }
    }

    private static let maximumNameLength = 253
}
