import Settings
import Wire

/// Written `[::]:1935`, `:1935` or `off`.
extension ListenAddress: ScalarValue {
    init?(text: String) {
        if text == "off" {
            self = .off
        } else if let address = SocketAddress(text.hasPrefix(":") ? "[::]\(text)" : text) {
            self.init(address)
        } else {
            return nil
        }
    }

    var text: String { address?.description ?? "off" }
    static var expectation: String { "an address and port such as [::]:1935 (port 0: any free one), or off" }
}

/// Written as an address, a host name, or `auto`; 0.0.0.0 and `::`, which lead nowhere, mean that too.
extension AdvertisedAddress: ScalarValue {
    init?(text: String) {
        let address = IPAddress(text)
        if text == "auto" || address?.isUnspecified == true {
            self = .interfaces
        } else if let address {
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

/// Written `redis.example:6379` or `[::1]:6379`.
extension ServerAddress: ScalarValue {
    init?(text: String) {
        if let address = SocketAddress(text) {
            guard address.port > 0 else { return nil }
            self.init(host: "\(address.ip)", port: address.port)
            return
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let port = UInt16(parts[1]), port > 0,
            case .name(let host) = AdvertisedAddress(text: String(parts[0]))
        else { return nil }
        self.init(host: host, port: port)
    }

    var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    static var expectation: String { "a host and port such as redis.example:6379" }
}

/// Written `5004-5103`.
extension PortRange: ScalarValue {
    init?(text: String) {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = UInt16(ends[0]), let last = UInt16(ends[1]), 0 < first, first <= last else {
            return nil
        }
        self.init(first, last)
    }

    var text: String { "\(first)-\(last)" }
    static var expectation: String { "two ports such as 5004-5103" }
}

/// Written `64KiB`, `8MiB`, `1GiB` or `1500B`.
extension ByteSize: ScalarValue {
    private static let units: [(name: String, bytes: Int)] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)]

    init?(text: String) {
        guard let (count, unit) = Quantity.split(text), let unit = Self.units.first(where: { $0.name == unit }) else {
            return nil
        }
        let (bytes, overflow) = count.multipliedReportingOverflow(by: unit.bytes)
        guard !overflow else { return nil }
        self.init(bytes: bytes)
    }

    var text: String {
        let unit = Self.units.first { bytes != 0 && bytes % $0.bytes == 0 } ?? ("B", 1)
        return "\(bytes / unit.bytes)\(unit.name)"
    }

    static var expectation: String { "a size such as 64KiB" }
}

extension ActionPattern: ScalarValue {
    init?(text: String) { self.init(text) }

    static var expectation: String { "an action such as ivs:GetStage, with * for any text" }
}

extension StagePattern: ScalarValue {
    init?(text: String) { self.init(text) }

    static var expectation: String { "a stage's ARN, with * for any text" }
}

/// A whole number with its unit behind it.
enum Quantity {
    static func split(_ text: String) -> (count: Int, unit: Substring)? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int(digits) else { return nil }
        return (count, text[digits.endIndex...])
    }
}

/// Written `250ms`, `5s`, `30m`, `24h` or `14d`.
extension Duration: ScalarValue {
    private static let units: [(name: String, milliseconds: Int)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    init?(text: String) {
        guard let (count, unit) = Quantity.split(text), let unit = Self.units.first(where: { $0.name == unit }) else {
            return nil
        }
        let (milliseconds, overflow) = count.multipliedReportingOverflow(by: unit.milliseconds)
        guard !overflow else { return nil }
        self = .milliseconds(milliseconds)
    }

    var text: String {
        let milliseconds = Int(self.milliseconds)
        let unit = Self.units.first { milliseconds != 0 && milliseconds % $0.milliseconds == 0 } ?? ("s", 1000)
        return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }

    static var expectation: String { "a time such as 250ms, 5s, 30m, 24h" }
}

extension TLSSettings.Version: ChoiceValue {}
extension TokenSettings.EndpointCheck: ChoiceValue {}
extension AdminSettings.Authentication: ChoiceValue {}
extension ContractAction: ChoiceValue {}
extension VideoProfile: ChoiceValue {}
extension RouterSettings.Driver: ChoiceValue {}
extension RouterSettings.Layers: ChoiceValue {}
extension AuthorizeSettings.Fallback: ChoiceValue {}
extension ClusterSettings.Topology: ChoiceValue {}
extension ClusterSettings.Degraded: ChoiceValue {}
extension LoggingSettings.Level: ChoiceValue {}
extension RecordingSettings.Audio: ChoiceValue {}
extension LoggingSettings.Format: ChoiceValue {}
