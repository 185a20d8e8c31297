/// A number of bytes.
public struct ByteSize: Equatable, Comparable, Sendable {
    public var bytes: Int

    public init(bytes: Int) { self.bytes = bytes }
    public static func kibibytes(_ count: Int) -> ByteSize { ByteSize(bytes: count << 10) }
    public static func mebibytes(_ count: Int) -> ByteSize { ByteSize(bytes: count << 20) }

    public static func < (left: ByteSize, right: ByteSize) -> Bool { left.bytes < right.bytes }
}
