import Wire

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

extension String: ScalarValue {
    init?(text: String) { self = text }
    var text: String { self }
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
