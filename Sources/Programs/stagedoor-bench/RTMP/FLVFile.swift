import Foundation

/// The tags of an FLV file, in order (Adobe FLV 10.1, annex E).
struct FLVFile {
    struct Tag {
        enum Kind: UInt8 { case audio = 8, video = 9, script = 18 }
        var kind: Kind
        /// Milliseconds since the file's first tag.
        var timestamp: Int
        var body: [UInt8]
        /// Codec configuration, which is sent once.
        var isSequenceHeader: Bool
        /// Of video: whose layer it is, by the number of its track.
        var track = 0

        /// A decoder can start with it.
        var isKeyframe: Bool { kind == .video && !isSequenceHeader && body[0] >> 4 & 7 == 1 }
    }

    enum Fault: Error, CustomStringConvertible {
        case notFLV(String)
        var description: String {
            switch self {
            case .notFLV(let path): "\(path) is not an FLV file"
            }
        }
    }

    private(set) var tags: [Tag] = []
    /// Milliseconds from the first tag to where the first tag of a repetition belongs.
    private(set) var duration = 0

    init(path: String) throws {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped))
        guard bytes.count > 13, bytes.starts(with: [0x46, 0x4C, 0x56]) else { throw Fault.notFLV(path) }
        func number(_ offset: Int, _ count: Int) -> Int { bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) } }
        var offset = number(5, 4) + 4
        while offset + 11 <= bytes.count {
            let size = number(offset + 1, 3)
            guard offset + 11 + size <= bytes.count else { break }
            let body = Array(bytes[offset + 11..<offset + 11 + size])
            if let kind = Tag.Kind(rawValue: bytes[offset] & 0x1F), !body.isEmpty {
                let timestamp = number(offset + 4, 3) | Int(bytes[offset + 7]) << 24
                tags.append(
                    Tag(kind: kind, timestamp: timestamp, body: body, isSequenceHeader: Self.isSequenceHeader(kind, body)))
            }
            offset += 11 + size + 4
        }
        let video = tags.filter { $0.kind == .video && !$0.isSequenceHeader }.map(\.timestamp)
        let first = tags.map(\.timestamp).min() ?? 0
        for index in tags.indices { tags[index].timestamp -= first }
        let frame = video.count > 1 ? Double(video[video.count - 1] - video[0]) / Double(video.count - 1) : 33
        duration = (tags.map(\.timestamp).max() ?? 0) + Int(frame.rounded())
    }

    /// Puts further tags among the others: by time and, at one time, behind them.
    mutating func add(_ further: [Tag]) {
        tags = (tags + further).enumerated().sorted { ($0.element.timestamp, $0.offset) < ($1.element.timestamp, $1.offset) }
            .map(\.element)
    }

    private static func isSequenceHeader(_ kind: Tag.Kind, _ body: [UInt8]) -> Bool {
        switch kind {
        case .audio: body.count > 1 && body[0] >> 4 == 10 && body[1] == 0 || body[0] == 9 << 4
        case .video: body.count > 1 && body[0] & 0x80 == 0 && body[0] & 0x0F == 7 && body[1] == 0
        case .script: true
        }
    }
}
