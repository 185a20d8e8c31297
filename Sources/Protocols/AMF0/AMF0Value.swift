public import Wire

/// One value of Action Message Format 0 (AMF 0 specification, Adobe, 2007-12), as RTMP commands and data messages carry it.
///
///     let body: [AMF0Value] = ["createStream", 2.0, .null]
///     send(body.amf0Bytes)
public enum AMF0Value: Sendable, Equatable {
    /// Marker 0x00: every number is a `Double`.
    case number(Double)
    /// Marker 0x01; any byte but 0 is read as true.
    case boolean(Bool)
    /// Markers 0x02 and 0x0C: which of the two is written follows from the length.
    case string(String)
    /// Marker 0x03.
    case object(AMF0Object)
    /// Marker 0x05.
    case null
    /// Markers 0x06 and 0x0D (unsupported).
    case undefined
    /// Marker 0x08: members with names, whose declared count is a hint.
    case ecmaArray(AMF0Object)
    /// Marker 0x0A: elements without names.
    case strictArray([AMF0Value])
    /// Milliseconds since 1970-01-01 UTC; the time zone on the wire is reserved, and written as 0.
    case date(milliseconds: Double)
    /// Marker 0x0F; the text is not looked at.
    case xmlDocument(String)
    /// Marker 0x10.
    case typedObject(className: String, AMF0Object)

    /// The number; nil for every other kind.
    public var number: Double? { if case .number(let number) = self { number } else { nil } }
    /// The boolean; nil for every other kind.
    public var boolean: Bool? { if case .boolean(let boolean) = self { boolean } else { nil } }
    /// The string; nil for every other kind.
    public var string: String? { if case .string(let string) = self { string } else { nil } }

    /// The members, whichever of the three kinds holds them: encoders send ECMA arrays where the specification has objects.
    public var members: AMF0Object? {
        switch self {
        case .object(let members), .ecmaArray(let members), .typedObject(_, let members): members
        default: nil
        }
    }

    /// The elements of a strict array; nil for every other kind.
    public var elements: [AMF0Value]? { if case .strictArray(let elements) = self { elements } else { nil } }
}

extension AMF0Value: ExpressibleByStringLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}

/// The members of an object or ECMA array, in the order of the wire. A name may come twice; the first one is found.
public struct AMF0Object: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// One member: a name and its value.
    public struct Member: Sendable, Equatable {
        /// May be empty; at most 65,535 bytes are written.
        public var name: String
        /// Of any kind.
        public var value: AMF0Value

        /// From name and value.
        public init(name: String, value: AMF0Value) { (self.name, self.value) = (name, value) }
    }

    /// All of them, in the order of the wire.
    public var members: [Member]

    /// From members in their order.
    public init(_ members: [Member] = []) { self.members = members }

    public init(dictionaryLiteral elements: (String, AMF0Value)...) {
        members = elements.map { Member(name: $0.0, value: $0.1) }
    }

    /// The value of the first member called `name`, in the same case; nil when there is none.
    public subscript(name: String) -> AMF0Value? { members.first { $0.name == name }?.value }

    /// The member's value whatever the case of its name: `tcUrl` is also seen as `tcurl`.
    public func value(ignoringCaseOf name: String) -> AMF0Value? {
        members.first { Self.isEqual($0.name, name) }?.value
    }

    /// Letters of ASCII; what encoders say has no others.
    private static func isEqual(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && zip(left.utf8, right.utf8).allSatisfy { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

extension AMF0Value {
    /// The longest name or short string that a 16-bit length can carry, in bytes.
    private static let maximumShortLength = Int(UInt16.max)

    /// Writes the value with its marker. Names longer than 65,535 bytes are cut there.
    public func write(into writer: inout ByteWriter) {
        switch self {
        case .number(let number):
            writer.write(AMF0Marker.number)
            writer.write(number.bitPattern)
        case .boolean(let boolean):
            writer.write(AMF0Marker.boolean)
            writer.write(UInt8(boolean ? 1 : 0))
        case .string(let string): Self.write(string, into: &writer)
        case .null: writer.write(AMF0Marker.null)
        case .undefined: writer.write(AMF0Marker.undefined)
        case .object(let object):
            writer.write(AMF0Marker.object)
            Self.write(object, into: &writer)
        case .ecmaArray(let object): Self.writeArray(object, into: &writer)
        case .strictArray(let elements): Self.writeArray(elements, into: &writer)
        case .date(let milliseconds):
            writer.write(AMF0Marker.date)
            writer.write(milliseconds.bitPattern)
            writer.write(Int16(0))
        case .xmlDocument(let text):
            writer.write(AMF0Marker.xmlDocument)
            Self.writeLong(text, into: &writer)
        case .typedObject(let className, let object):
            writer.write(AMF0Marker.typedObject)
            Self.writeName(className, into: &writer)
            Self.write(object, into: &writer)
        }
    }

    private static func write(_ string: String, into writer: inout ByteWriter) {
        if string.utf8.count <= maximumShortLength {
            writer.write(AMF0Marker.string)
            writeName(string, into: &writer)
        } else {
            writer.write(AMF0Marker.longString)
            writeLong(string, into: &writer)
        }
    }

    private static func writeArray(_ object: AMF0Object, into writer: inout ByteWriter) {
        writer.write(AMF0Marker.ecmaArray)
        writer.write(UInt32(object.members.count))
        write(object, into: &writer)
    }

    private static func writeArray(_ elements: [AMF0Value], into writer: inout ByteWriter) {
        writer.write(AMF0Marker.strictArray)
        writer.write(UInt32(elements.count))
        for element in elements { element.write(into: &writer) }
    }

    private static func write(_ object: AMF0Object, into writer: inout ByteWriter) {
        for member in object.members {
            writeName(member.name, into: &writer)
            member.value.write(into: &writer)
        }
        writer.write(UInt16(0))
        writer.write(AMF0Marker.objectEnd)
    }

    private static func writeName(_ name: String, into writer: inout ByteWriter) {
        let count = min(name.utf8.count, maximumShortLength)
        writer.write(UInt16(count))
        if count == name.utf8.count { return writer.write(contentsOf: name.utf8) }
        writer.write(contentsOf: name.utf8.prefix(count))
    }

    private static func writeLong(_ text: String, into writer: inout ByteWriter) {
        writer.write(UInt32(truncatingIfNeeded: text.utf8.count))
        writer.write(contentsOf: text.utf8)
    }
}

extension [AMF0Value] {
    /// The values one after another: the body of a command or data message.
    public var amf0Bytes: [UInt8] {
        var writer = ByteWriter(reserving: 256)
        for value in self { value.write(into: &writer) }
        return writer.bytes
    }
}

/// The first byte of a value (AMF 0 specification §2.1).
enum AMF0Marker {
    static let number: UInt8 = 0x00
    static let boolean: UInt8 = 0x01
    static let string: UInt8 = 0x02
    static let object: UInt8 = 0x03
    static let null: UInt8 = 0x05
    static let undefined: UInt8 = 0x06
    static let ecmaArray: UInt8 = 0x08
    static let objectEnd: UInt8 = 0x09
    static let strictArray: UInt8 = 0x0A
    static let date: UInt8 = 0x0B
    static let longString: UInt8 = 0x0C
    static let unsupported: UInt8 = 0x0D
    static let xmlDocument: UInt8 = 0x0F
    static let typedObject: UInt8 = 0x10
    static let avmPlusObject: UInt8 = 0x11
}
