import Settings
import Wire

/// A setting as the file or a variable gives it, before anybody knows its type.
enum RawSetting: Equatable, Sendable {
    case scalar(String)
    case list([String])
}

/// Why a value is not taken: what would be.
struct ValueError: Error, Equatable {
    var expected: String
}

/// A type that settings can have: how it is read, how it is written, and in which words its values are described.
protocol ConfigurationValue: Equatable, Sendable {
    init(raw: RawSetting) throws(ValueError)
    /// As YAML: what `init(raw:)` reads back as the same value.
    var yaml: String { get }
    /// `a time such as 250ms`: completes "expected …".
    static var expectation: String { get }
    /// What the sample file says where there is no range; nil where the default says all.
    static var hint: String? { get }
    static var isSecret: Bool { get }
}

extension ConfigurationValue {
    static var hint: String? { expectation }
    static var isSecret: Bool { false }
}

/// A type written as one word or sentence.
protocol ScalarValue: ConfigurationValue {
    init?(text: String)
    var text: String { get }
}

extension ScalarValue {
    init(raw: RawSetting) throws(ValueError) {
        guard case .scalar(let text) = raw, let value = Self(text: text) else { throw ValueError(expected: Self.expectation) }
        self = value
    }

    var yaml: String { YAMLText.scalar(text) }
}

/// Writing YAML scalars so that they read back as they were.
enum YAMLText {
    /// Bare where it is a plain word, number or quantity, else in double quotes.
    static func scalar(_ text: String) -> String {
        let isBare =
            (text.utf8.first.map(isLetterOrDigit) ?? false)
            && text.utf8.allSatisfy { isLetterOrDigit($0) || [0x2D, 0x2E, 0x2F, 0x5F].contains($0) }
        let looksLikeAnotherNumber = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E } && Int(text)?.text != text
        if isBare, !looksLikeAnotherNumber { return text }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}

extension Bool: ScalarValue {
    init?(text: String) {
        switch text {
        case "true": self = true
        case "false": self = false
        default: return nil
        }
    }

    var text: String { self ? "true" : "false" }
    static var expectation: String { "true or false" }
    static var hint: String? { nil }
}

extension Int: ScalarValue {
    init?(text: String) { self.init(text.filter { $0 != "_" }) }
    var text: String { String(self) }
    static var expectation: String { "a whole number" }
}

/// Printed without the password and the query that a URL may have.
extension String: ScalarValue {
    init?(text: String) { self = text }
    var text: String { withoutCredentials }
    static var expectation: String { "text" }
    static var hint: String? { nil }
}

/// Printed as nothing when it is empty, and else never.
extension Secret: ScalarValue {
    init?(text: String) { self.init(text) }
    var text: String { isEmpty ? "" : "redacted" }
    static var expectation: String { "a secret; better given by the environment than in the file" }
    static var hint: String? { "a secret: better a variable than the file" }
    static var isSecret: Bool { true }
}

extension IPAddress: ScalarValue {
    init?(text: String) { self.init(text) }
    var text: String { description }
    static var expectation: String { "an IP address" }
}

extension IPNetwork: ScalarValue {
    init?(text: String) { self.init(text) }
    var text: String { description }
    static var expectation: String { "a network such as 10.0.0.0/8" }
}

/// Lists are sequences in YAML and comma-separated in variables.
extension Array: ConfigurationValue where Element: ScalarValue {
    init(raw: RawSetting) throws(ValueError) {
        let texts: [String] =
            switch raw {
            case .list(let texts): texts
            case .scalar(let text): text.split(separator: ",").map { String($0.trimmingSpaces()) }
            }
        self = []
        for text in texts {
            guard let element = Element(text: text) else { throw ValueError(expected: Self.expectation) }
            append(element)
        }
    }

    var yaml: String { "[\(map(\.yaml).joined(separator: ", "))]" }
    static var expectation: String { "a list, each \(Element.expectation)" }
    static var hint: String? { Element.hint == nil ? "a list" : expectation }
    static var isSecret: Bool { Element.isSecret }
}

/// A setting that may be left empty.
extension Optional: ConfigurationValue where Wrapped: ScalarValue {
    init(raw: RawSetting) throws(ValueError) {
        if raw == .scalar("") {
            self = nil
        } else {
            self = try Wrapped(raw: raw)
        }
    }

    var yaml: String { map(\.yaml) ?? "\"\"" }
    static var expectation: String { "\(Wrapped.expectation), or nothing" }
    static var isSecret: Bool { Wrapped.isSecret }
}

/// Words that name a choice.
protocol ChoiceValue: ScalarValue, RawRepresentable, CaseIterable where RawValue == String {}

extension ChoiceValue {
    init?(text: String) { self.init(rawValue: text) }
    var text: String { rawValue }
    static var expectation: String { "one of " + allCases.map(\.rawValue).joined(separator: ", ") }
}

extension StringProtocol {
    func trimmingSpaces() -> SubSequence {
        guard let first = firstIndex(where: { $0 != " " }), let last = lastIndex(where: { $0 != " " }) else {
            return self[endIndex...]
        }
        return self[first...last]
    }
}
