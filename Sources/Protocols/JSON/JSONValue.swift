/// One JSON value (RFC 8259 §3).
///
/// Whole numbers that fit 64 bits are kept exactly; every other number is the nearest `Double`. Objects keep their members' order
/// and never hold a name twice. The typed views (`string`, `integer`, …) answer nil for a value of another type.
///
///     let value = try JSONValue(parsing: body)
///     let name = value["stage"]?["name"]?.string ?? ""
///     let answer: JSONValue = ["name": .string(name), "tags": [:]]
public enum JSONValue: Equatable, Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without fraction and exponent that fits 64 bits.
    case integer(Int64)
    /// Every other number; an infinity or NaN is written as null.
    case number(Double)
    /// A string, its escapes resolved.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object(JSONObject)
}

extension JSONValue {
    /// Whether this is `null`, which an absent member is not.
    public var isNull: Bool { self == .null }

    /// A boolean.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// A string.
    public var string: String? { if case .string(let value) = self { value } else { nil } }

    /// The elements of an array.
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

    /// The members of an object.
    public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }

    /// A whole number; `5.0` counts as one, `5.5` does not.
    public var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// A number, whole or not.
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The member called `name`; nil when there is none or this is no object.
    public subscript(name: String) -> JSONValue? { object?[name] }

    /// The element at `index`; nil beyond the end or when this is no array.
    public subscript(index: Int) -> JSONValue? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}

extension JSONValue: CustomStringConvertible {
    /// The compact JSON text.
    public var description: String { String(decoding: serialized(), as: UTF8.self) }
}

/// The members of a JSON object in their order, each name once.
///
/// Names are compared byte by byte: Unicode's equivalences never make one name stand for another.
public struct JSONObject: Equatable, Sendable {
    /// In the order of the text, or in which they were set.
    public private(set) var members: [(name: String, value: JSONValue)] = []

    /// No members.
    public init() {}

    /// From pairs; of pairs with one name the last wins.
    public init(_ pairs: some Sequence<(String, JSONValue)>) {
        for (name, value) in pairs { self[name] = value }
    }

    /// Members.
    public var count: Int { members.count }
    /// Whether there are no members.
    public var isEmpty: Bool { members.isEmpty }
    /// In the members' order.
    public var names: [String] { members.map(\.name) }

    /// The member called `name`. Setting replaces in place or appends; setting nil removes.
    public subscript(name: String) -> JSONValue? {
        get { index(of: name).map { members[$0].value } }
        set {
            switch (index(of: name), newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((name, value))
            case (nil, nil): break
            }
        }
    }

    private func index(of name: String) -> Int? {
        members.firstIndex { $0.name.utf8.count == name.utf8.count && $0.name.utf8.elementsEqual(name.utf8) }
    }

    /// Appends a member that the parser knows to be new.
    mutating func appendUnique(_ name: String, _ value: JSONValue) { members.append((name, value)) }

    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.members.allSatisfy { right[$0.name] == $0.value }
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}
