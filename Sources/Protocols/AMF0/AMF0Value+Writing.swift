public import Wire

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
        case .ecmaArray(let object):
            writer.write(AMF0Marker.ecmaArray)
            writer.write(UInt32(object.members.count))
            Self.write(object, into: &writer)
        case .strictArray(let elements):
            writer.write(AMF0Marker.strictArray)
            writer.write(UInt32(elements.count))
            for element in elements { element.write(into: &writer) }
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
