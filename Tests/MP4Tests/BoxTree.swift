/// Finds boxes in a file, for tests: `moov/trak/mdia`, where `trak[1]` is the second of its name.
struct BoxTree {
    let bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    /// The whole box, its head included; nil when there is none.
    func box(_ path: String) -> [UInt8]? {
        var content = bytes
        var found: ArraySlice<UInt8>?
        for step in path.split(separator: "/") {
            let name = step.prefix(4)
            let index = Int(step.dropFirst(4).filter(\.isNumber)) ?? 0
            guard let box = Self.boxes(in: content).filter({ $0.type == name }).dropFirst(index).first else { return nil }
            found = box.bytes
            content = box.bytes.dropFirst(8 + Self.headByteCount(of: String(name)))
        }
        return found.map(Array.init)
    }

    /// The types of the boxes at the top.
    var types: [String] { Self.boxes(in: bytes).map(\.type) }

    private static func boxes(in content: ArraySlice<UInt8>) -> [(type: String, bytes: ArraySlice<UInt8>)] {
        var (rest, boxes) = (content, [(type: String, bytes: ArraySlice<UInt8>)]())
        while rest.count >= 8 {
            let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard size >= 8, size <= rest.count else { break }
            boxes.append((String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self), rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return boxes
    }

    /// What stands before the boxes inside.
    private static func headByteCount(of type: String) -> Int {
        switch type {
        case "stsd": 8
        case "avc1": 78
        case "mp4a", "Opus": 28
        default: 0
        }
    }
}
