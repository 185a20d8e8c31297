extension CBORValue {
    /// Parses one item and nothing more, of definite and of indefinite length (RFC 8949 §3.2).
    public init(parsing bytes: [UInt8]) throws(CBORError) {
        var parser = CBORParser(bytes)
        self = try parser.item(depth: 0)
        guard parser.isAtEnd else { throw .trailingBytes }
    }
}

/// A reader of items; their number and depth are bounded.
private struct CBORParser {
    private let bytes: [UInt8]
    private var position = 0
    private var itemsLeft = CBORValue.maximumItems

    /// The first byte of an item, and the number after it.
    private struct Head {
        var major: UInt8
        var detail: UInt8
        /// Nil for an indefinite length, or a break.
        var argument: UInt64?
    }

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    private mutating func read(count: Int) -> ArraySlice<UInt8>? {
        guard count <= bytes.count - position else { return nil }
        defer { position += count }
        return bytes[position..<position + count]
    }

    private mutating func number(byteCount: Int) -> UInt64? {
        read(count: byteCount)?.reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func item(depth: Int) throws(CBORError) -> CBORValue {
        let head = try head()
        return try item(head, depth: depth)
    }

    private mutating func head() throws(CBORError) -> Head {
        guard let first = read(count: 1)?.first else { throw .truncated }
        let detail = first & 0x1F
        let argument: UInt64? =
            switch detail {
            case 0..<24: UInt64(detail)
            case 24: number(byteCount: 1)
            case 25: number(byteCount: 2)
            case 26: number(byteCount: 4)
            case 27: number(byteCount: 8)
            default: nil
            }
        if argument == nil, detail < 28 { throw .truncated }
        guard argument != nil || detail == 31 else { throw .malformed }
        return Head(major: first >> 5, detail: detail, argument: argument)
    }

    private mutating func item(_ head: Head, depth: Int) throws(CBORError) -> CBORValue {
        guard itemsLeft > 0, depth <= CBORValue.maximumDepth else { throw .tooComplex }
        itemsLeft -= 1
        switch (head.major, head.argument) {
        case (0, let value?):
            guard let integer = Int64(exactly: value) else { throw .outOfRange }
            return .integer(integer)
        case (1, let value?):
            guard let integer = Int64(exactly: value) else { throw .outOfRange }
            return .integer(-1 - integer)
        case (2, _): return .bytes(try string(head))
        case (3, _): return .text(try text(head))
        case (4, let count): return .array(try array(count, depth: depth + 1))
        case (5, let count): return .map(try map(count, depth: depth + 1))
        case (6, let tag?): return .tagged(tag, try item(depth: depth + 1))
        case (7, let value?): return try simple(head.detail, value)
        default: throw .malformed
        }
    }

    private func simple(_ detail: UInt8, _ value: UInt64) throws(CBORError) -> CBORValue {
        switch detail {
        case 20: .bool(false)
        case 21: .bool(true)
        case 22, 23: .null
        case 25: .double(Double(Float16(bitPattern: UInt16(value))))
        case 26: .double(Double(Float(bitPattern: UInt32(value))))
        case 27: .double(Double(bitPattern: value))
        default: throw .malformed
        }
    }

    private mutating func string(_ head: Head) throws(CBORError) -> [UInt8] {
        if let count = head.argument {
            guard let count = Int(exactly: count), let bytes = read(count: count) else { throw .truncated }
            return Array(bytes)
        }
        var bytes: [UInt8] = []
        while let chunk = try headBeforeBreak() {
            guard chunk.major == head.major, chunk.argument != nil else { throw .malformed }
            bytes += try string(chunk)
        }
        return bytes
    }

    private mutating func text(_ head: Head) throws(CBORError) -> String {
        guard let text = String(validating: try string(head), as: UTF8.self) else { throw .notText }
        return text
    }

    private mutating func array(_ count: UInt64?, depth: Int) throws(CBORError) -> [CBORValue] {
        var items: [CBORValue] = []
        if let count {
            // What the count promises is not believed: each item takes a byte at least, and `itemsLeft` ends it.
            for _ in 0..<min(count, UInt64(CBORValue.maximumItems) + 1) { items.append(try item(depth: depth)) }
        } else {
            while let head = try headBeforeBreak() { items.append(try item(head, depth: depth)) }
        }
        return items
    }

    private mutating func map(_ count: UInt64?, depth: Int) throws(CBORError) -> [CBORValue.Member] {
        var members: [CBORValue.Member] = []
        if let count {
            for _ in 0..<min(count, UInt64(CBORValue.maximumItems) + 1) {
                let head = try head()
                members.append(try member(head, depth: depth))
            }
        } else {
            while let head = try headBeforeBreak() { members.append(try member(head, depth: depth)) }
        }
        return members
    }

    private mutating func member(_ head: Head, depth: Int) throws(CBORError) -> CBORValue.Member {
        guard head.major == 3 else { throw .notText }
        let name = try text(head)
        return CBORValue.Member(name, try item(depth: depth))
    }

    /// Nil at the break that ends an indefinite length (RFC 8949 §3.2.1).
    private mutating func headBeforeBreak() throws(CBORError) -> Head? {
        if itemsLeft <= 0 { throw .tooComplex }
        itemsLeft -= 1
        let head = try head()
        return head.major == 7 && head.argument == nil ? nil : head
    }
}
