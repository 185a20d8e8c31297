/// A setting as the file or a variable gives it, before anybody knows its type.
enum RawSetting: Equatable, Sendable {
    case scalar(String)
    case list([String])
}

/// Why a value is not taken: what would be.
struct ValueError: Error, Equatable {
    var expected: String
}

/// A type that settings can have: how it is read, how it is written, and how people are told what it takes.
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

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
