/// One value of Action Message Format 0 (AMF 0 specification, Adobe, 2007-12), as RTMP commands and data messages carry it.
public enum AMF0Value: Sendable, Equatable {
    case number(Double)
    case boolean(Bool)
    /// Markers 0x02 and 0x0C: which of the two is written follows from the length.
    case string(String)
    case object(AMF0Object)
    case null
    case undefined
    case ecmaArray(AMF0Object)
    case strictArray([AMF0Value])
    /// Milliseconds since 1970-01-01 UTC; the time zone on the wire is reserved, and written as 0.
    case date(milliseconds: Double)
    case xmlDocument(String)
    case typedObject(className: String, AMF0Object)

    public var number: Double? { if case .number(let number) = self { number } else { nil } }
    public var boolean: Bool? { if case .boolean(let boolean) = self { boolean } else { nil } }
    public var string: String? { if case .string(let string) = self { string } else { nil } }

    /// The members, whichever of the three kinds holds them: encoders send ECMA arrays where the specification has objects.
    public var members: AMF0Object? {
        switch self {
        case .object(let members), .ecmaArray(let members), .typedObject(_, let members): members
        default: nil
        }
    }

    public var elements: [AMF0Value]? { if case .strictArray(let elements) = self { elements } else { nil } }
}

extension AMF0Value: ExpressibleByStringLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}
