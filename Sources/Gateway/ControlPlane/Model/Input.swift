import JSON

/// The members of one request structure, each taken with the model's constraints. Members nobody asks for are ignored.
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
        guard let text = value.string, rule.accepts(text) else { throw Self.invalid(name) }
        return text
    }

    func optionalInteger(_ name: String, _ range: ClosedRange<Int>) throws(APIError) -> Int? {
        guard let value = member(name) else { return nil }
        guard let number = value.integer, let integer = Int(exactly: number), range.contains(integer) else {
            throw .validation("\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return integer
    }

    func optionalFlag(_ name: String) throws(APIError) -> Bool? {
        guard let value = member(name) else { return nil }
        guard let flag = value.bool else { throw Self.invalid(name) }
        return flag
    }

    func optionalStructure(_ name: String) throws(APIError) -> Input? {
        guard let value = member(name) else { return nil }
        guard let object = value.object else { throw Self.invalid(name) }
        return Input(object)
    }

    func optionalStructures(_ name: String, maximumCount: Int) throws(APIError) -> [Input]? {
        guard let values = try optionalList(name, maximumCount: maximumCount) else { return nil }
        var inputs: [Input] = []
        for value in values {
            guard let object = value.object else { throw Self.invalid(name) }
            inputs.append(Input(object))
        }
        return inputs
    }

    func optionalTexts(_ name: String, _ rule: TextRule, maximumCount: Int) throws(APIError) -> [String]? {
        guard let values = try optionalList(name, maximumCount: maximumCount) else { return nil }
        var texts: [String] = []
        for value in values {
            guard let text = value.string, rule.accepts(text) else { throw Self.invalid(name) }
            texts.append(text)
        }
        return texts
    }

    /// A map of strings, names and values within their rules.
    private func optionalMap(_ name: String, key: TextRule, value rule: TextRule) throws(APIError) -> [String: String]? {
        guard let value = member(name) else { return nil }
        guard let members = value.object else { throw Self.invalid(name) }
        var map: [String: String] = [:]
        for (memberName, value) in members.members {
            guard let text = value.string, key.accepts(memberName), rule.accepts(text) else { throw Self.invalid(name) }
            map[memberName] = text
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
        guard tags.count <= Self.maximumTags else { throw .validation("There may be at most \(Self.maximumTags) tags.") }
        return tags
    }

    private func optionalList(_ name: String, maximumCount: Int) throws(APIError) -> [JSONValue]? {
        guard let value = member(name) else { return nil }
        guard let values = value.array, values.count <= maximumCount else { throw Self.invalid(name) }
        return values
    }

    /// `null` counts as absent, as SDKs mean it.
    private func member(_ name: String) -> JSONValue? {
        guard let value = object[name], !value.isNull else { return nil }
        return value
    }

    private static func invalid(_ name: String) -> APIError {
        .validation("\(name) does not have the form that the API model prescribes.")
    }
}
