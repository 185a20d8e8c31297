import JSON
import Store

/// The members of one request structure, each taken with the model's constraints. Members that no operation reads are ignored.
struct Input: Sendable {
    /// Bytes of names and values of attributes together, at most.
    static let maximumAttributesLength = 1_024
    static let maximumTags = 50

    private let object: JSONObject

    init(_ object: JSONObject) { self.object = object }

    /// - Throws: a ValidationException when the body is anything but one JSON object; an empty body counts as `{}`.
    init(body: [UInt8]) throws(APIError) {
        guard !body.isEmpty else {
            self.init([:])
            return
        }
        guard case .object(let object)? = try? JSONValue(parsing: body) else {
            throw .validation("The request body is not one JSON object.")
        }
        self.init(object)
    }

    func text(_ name: String, _ rule: TextRule) throws(APIError) -> String {
        guard let text = try optionalText(name, rule) else { throw .validation("\(name) is required.") }
        return text
    }

    func optionalText(_ name: String, _ rule: TextRule) throws(APIError) -> String? {
        guard let value = member(name) else { return nil }
        guard let text = value.string.map(rule.spelled), rule.accepts(text) else { throw .malformed(name, rule.form) }
        return text
    }

    func optionalInteger(_ name: String, _ range: ClosedRange<Int>) throws(APIError) -> Int? {
        guard let value = member(name) else { return nil }
        guard let number = value.integer, let integer = Int(exactly: number), range.contains(integer) else {
            throw .malformed(name, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return integer
    }

    func optionalFlag(_ name: String) throws(APIError) -> Bool? {
        guard let value = member(name) else { return nil }
        guard let flag = value.bool else { throw .malformed(name, "true or false") }
        return flag
    }

    func optionalStructure(_ name: String) throws(APIError) -> Input? {
        guard let value = member(name) else { return nil }
        guard let object = value.object else { throw .malformed(name, "an object") }
        return Input(object)
    }

    func optionalStructures(_ name: String, maximumCount: Int) throws(APIError) -> [Input]? {
        guard let values = try optionalList(name, maximumCount: maximumCount) else { return nil }
        var inputs: [Input] = []
        for value in values {
            guard let object = value.object else { throw .malformed("Each of \(name)", "an object") }
            inputs.append(Input(object))
        }
        return inputs
    }

    func optionalTexts(_ name: String, _ rule: TextRule, maximumCount: Int) throws(APIError) -> [String]? {
        guard let values = try optionalList(name, maximumCount: maximumCount) else { return nil }
        var texts: [String] = []
        for value in values {
            guard let text = value.string.map(rule.spelled), rule.accepts(text) else {
                throw .malformed("Each of \(name)", rule.form)
            }
            texts.append(text)
        }
        return texts
    }

    /// A map of strings, names and values within their rules.
    private func optionalMap(_ name: String, key: TextRule, value rule: TextRule) throws(APIError) -> [String: String]? {
        guard let value = member(name) else { return nil }
        guard let members = value.object else { throw .malformed(name, "an object") }
        var map: [String: String] = [:]
        for (memberName, value) in members.members {
            guard let text = value.string, rule.accepts(text) else { throw .malformed("Each value of \(name)", rule.form) }
            guard key.accepts(memberName) else { throw .malformed("Each name of \(name)", key.form) }
            guard map.updateValue(text, forKey: memberName) == nil else {
                throw .validation("\(name) has two names that are one to Unicode, composed in different ways.")
            }
        }
        return map
    }

    func attributes() throws(APIError) -> [String: String]? {
        guard let map = try optionalMap("attributes", key: .any, value: .any) else { return nil }
        let length = map.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard length <= Self.maximumAttributesLength else {
            throw .validation("attributes must not exceed \(Self.maximumAttributesLength) bytes in all.")
        }
        return map
    }

    func tags() throws(APIError) -> [String: String]? {
        guard let tags = try optionalMap("tags", key: .tagKey, value: .tagValue) else { return nil }
        guard tags.count <= Self.maximumTags else { throw .tooManyTags(Self.maximumTags) }
        return tags
    }

    private func optionalList(_ name: String, maximumCount: Int) throws(APIError) -> [JSONValue]? {
        guard let value = member(name) else { return nil }
        guard let values = value.array, values.count <= maximumCount else {
            throw .malformed(name, "a list of at most \(maximumCount)")
        }
        return values
    }

    /// `null` counts as absent, as SDKs mean it.
    private func member(_ name: String) -> JSONValue? {
        guard let value = object[name], !value.isNull else { return nil }
        return value
    }
}

/// What the model says about one string shape: its length in characters, and the pattern that all of it must match.
struct TextRule: Sendable {
    var length: ClosedRange<Int>
    /// Length and pattern in words, as an error has them behind "must be".
    var form: String
    var matches: @Sendable (String) -> Bool = { _ in true }
    /// The spelling that counts of a text that was sent.
    var spelled: @Sendable (String) -> String = { $0 }

    static let name = TextRule(length: 0...128, form: "at most 128 of the characters a-z, A-Z, 0-9, - and _") { text in
        text.utf8.allSatisfy { isAlphanumeric($0) || $0 == 0x2D || $0 == 0x5F }
    }
    static let participantID = TextRule(
        length: 0...64, form: "at most 64 of the characters a-z, A-Z, 0-9, - and _", matches: name.matches)
    /// As tokens have it: a store that ends texts at U+0000 would keep a part of it.
    static let userID = TextRule(length: 0...128, form: "text of at most 128 characters without U+0000") { text in
        !text.utf8.contains(0)
    }
    static let reason = TextRule(length: 0...128, form: "text of at most 128 characters")
    static let sessionID = TextRule(length: 16...16, form: "st- and 13 letters or digits") { text in
        text.hasPrefix("st-") && text.utf8.dropFirst(3).allSatisfy(isAlphanumeric)
    }
    static let pageToken = TextRule(length: 0...1_024, form: "what this list answered as nextToken") { text in
        text.utf8.allSatisfy { isAlphanumeric($0) || "+/=_-".utf8.contains($0) }
    }
    static let tagKey = TextRule(length: 1...128, form: "text of 1 to 128 characters")
    static let tagValue = TextRule(length: 0...256, form: "text of at most 256 characters")
    static let any = TextRule(length: 0...Int.max, form: "text")

    static func arn(_ kind: ResourceName.Kind) -> TextRule {
        TextRule(length: 1...128, form: arnForm(kind.rawValue)) { ResourceName.isARN($0, of: kind) }
    }
    /// `""` or an ARN.
    static func arnOrEmpty(_ kind: ResourceName.Kind) -> TextRule {
        TextRule(length: 0...128, form: "empty or " + arnForm(kind.rawValue)) { $0.isEmpty || ResourceName.isARN($0, of: kind) }
    }
    /// The model's own pattern allows one letter before the slash, which no ARN has.
    static let resourceARN = TextRule(length: 1...128, form: arnForm("TYPE")) { text in
        guard let kind = ResourceName.kind(ofARN: text) else { return false }
        return !kind.isEmpty && kind.utf8.allSatisfy { isLower($0) || $0 == 0x2D }
    }
    private static func arnForm(_ kind: String) -> String { "an ARN of the form arn:aws:ivs:REGION:ACCOUNT:\(kind)/ID" }

    static let bucketName = TextRule(length: 3...63, form: "3 to 63 of the characters a-z, 0-9, . and -") { text in
        text.utf8.allSatisfy { isLower($0) || isDigit($0) || $0 == 0x2D || $0 == 0x2E }
    }

    /// One of an enumeration's values, sent in any case, as IVS takes them.
    static func oneOf(_ values: String...) -> TextRule { oneOf(values) }

    static func oneOf(_ values: [String]) -> TextRule {
        TextRule(
            length: 0...Int.max, form: "one of " + values.joined(separator: ", "), matches: { values.contains($0) },
            spelled: { $0.uppercased() })
    }

    func accepts(_ text: String) -> Bool { length.contains(text.unicodeScalars.count) && matches(text) }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func isLower(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }
    private static func isAlphanumeric(_ byte: UInt8) -> Bool { isDigit(byte) || isLower(byte) || (0x41...0x5A).contains(byte) }
}
