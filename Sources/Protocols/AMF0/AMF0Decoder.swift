public import Wire

/// Reads AMF 0 values, bounded in depth and number: what a message declares never decides how much is allocated.
///
/// Text that is not UTF-8 is repaired with U+FFFD; of text beyond ASCII the scalars are kept that 256 bytes hold. A declared
/// element count beyond the bytes at hand is `.truncated`.
///
///     let values = try AMF0Decoder.values(in: message.payload.bytes)
///     if values.first?.string == "onMetaData", let width = values.last?.members?["width"]?.number { … }
public struct AMF0Decoder {
    /// Encoders nest two or three deep; each level costs three stack frames here.
    public static let maximumDepth = 16
    /// onMetaData of the richest encoder seen has fewer than 60 values.
    public static let maximumValueCount = 4_096
    /// Bytes of text that is not ASCII: encoders say nothing long in it, and to compare a character
    /// takes the square of its length.
    fileprivate static let maximumUnicodeTextLength = 256
    /// Of a body: a command's name, number, object and one argument.
    private static let usualValueCount = 4

    private var valueCount = 0

    /// A decoder that has read nothing: one for each message body.
    public init() {}

    /// Reads the values of a message body, up to the first one in AMF 3: nothing tells how long that is.
    public static func values(in body: RawSpan) throws(AMF0Error) -> [AMF0Value] {
        var decoder = AMF0Decoder()
        var reader = ByteReader(body)
        var values: [AMF0Value] = []
        values.reserveCapacity(usualValueCount)
        while let marker = reader.peek(), marker != AMF0Marker.avmPlusObject { values.append(try decoder.value(from: &reader)) }
        return values
    }

    /// Reads the next value; the limits count over all calls on one decoder.
    public mutating func value(from reader: inout ByteReader) throws(AMF0Error) -> AMF0Value {
        try value(from: &reader, depth: 1)
    }

    private mutating func value(from reader: inout ByteReader, depth: Int) throws(AMF0Error) -> AMF0Value {
        guard depth <= Self.maximumDepth else { throw .tooDeep }
        valueCount += 1
        guard valueCount <= Self.maximumValueCount else { throw .tooManyValues }
        switch try reader.next(UInt8.self) {
        case AMF0Marker.number: return .number(try reader.nextDouble())
        case AMF0Marker.boolean: return .boolean(try reader.next(UInt8.self) != 0)
        case AMF0Marker.string: return .string(try reader.nextText(count: Int(reader.next(UInt16.self))))
        case AMF0Marker.longString: return .string(try reader.nextText(count: Int(reader.next(UInt32.self))))
        case AMF0Marker.null: return .null
        case AMF0Marker.undefined, AMF0Marker.unsupported: return .undefined
        case AMF0Marker.object: return .object(try members(from: &reader, depth: depth))
        case AMF0Marker.ecmaArray:
            _ = try reader.next(UInt32.self)  // how many members: a hint, which some encoders leave at 0
            return .ecmaArray(try members(from: &reader, depth: depth))
        case AMF0Marker.strictArray: return .strictArray(try elements(from: &reader, depth: depth))
        case AMF0Marker.date: return try date(from: &reader)
        case AMF0Marker.xmlDocument: return .xmlDocument(try reader.nextText(count: Int(reader.next(UInt32.self))))
        case AMF0Marker.typedObject:
            let className = try reader.nextText(count: Int(reader.next(UInt16.self)))
            return .typedObject(className: className, try members(from: &reader, depth: depth))
        case AMF0Marker.avmPlusObject: throw .amf3
        case let marker: throw .unsupportedMarker(marker)
        }
    }

    private func date(from reader: inout ByteReader) throws(AMF0Error) -> AMF0Value {
        let milliseconds = try reader.nextDouble()
        _ = try reader.next(Int16.self)
        return .date(milliseconds: milliseconds)
    }

    /// Members up to the object end marker, which some encoders leave out where the message ends.
    private mutating func members(from reader: inout ByteReader, depth: Int) throws(AMF0Error) -> AMF0Object {
        var object = AMF0Object()
        while !reader.isAtEnd, let member = try nextMember(from: &reader, depth: depth) { object.members.append(member) }
        return object
    }

    /// Nil at the object end marker. A name may be empty: only followed by that marker does it end the object.
    private mutating func nextMember(from reader: inout ByteReader, depth: Int) throws(AMF0Error) -> AMF0Object.Member? {
        let name = try reader.nextText(count: Int(reader.next(UInt16.self)))
        if name.isEmpty, reader.peek() == AMF0Marker.objectEnd {
            _ = reader.skip(1)
            return nil
        }
        return AMF0Object.Member(name: name, value: try value(from: &reader, depth: depth + 1))
    }

    private mutating func elements(from reader: inout ByteReader, depth: Int) throws(AMF0Error) -> [AMF0Value] {
        let count = Int(try reader.next(UInt32.self))
        guard count <= reader.remaining else { throw .truncated }  // each element takes at least its marker
        guard count <= Self.maximumValueCount - valueCount else { throw .tooManyValues }
        var elements: [AMF0Value] = []
        for _ in 0..<count { elements.append(try value(from: &reader, depth: depth + 1)) }
        return elements
    }
}

extension ByteReader {
    fileprivate mutating func next<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type) throws(AMF0Error) -> T {
        guard let value = read(type) else { throw .truncated }
        return value
    }

    fileprivate mutating func nextDouble() throws(AMF0Error) -> Double { Double(bitPattern: try next(UInt64.self)) }

    fileprivate mutating func nextText(count: Int) throws(AMF0Error) -> String {
        guard let bytes = readSpan(count: count) else { throw .truncated }
        let text = unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        guard text.utf8.count > AMF0Decoder.maximumUnicodeTextLength, !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: AMF0Decoder.maximumUnicodeTextLength)
        while UTF8.isContinuation(text.utf8[end]) { end = text.utf8.index(before: end) }
        return String(text.unicodeScalars[..<end])
    }
}

/// Why bytes are not AMF 0 that we take.
public enum AMF0Error: Error, Equatable, Sendable {
    /// The bytes end inside a value, or a declared count is greater than what is left can hold.
    case truncated
    /// Deeper than `AMF0Decoder.maximumDepth`.
    case tooDeep
    /// More than `AMF0Decoder.maximumValueCount` values in one message.
    case tooManyValues
    /// Marker 0x11 inside a value: what follows is AMF 3, which no encoder needs for publishing.
    case amf3
    /// References, movie clips, record sets, and markers that the specification does not have.
    case unsupportedMarker(UInt8)
}
