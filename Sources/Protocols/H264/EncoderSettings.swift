/// What x264 writes about itself into an SEI of type user_data_unregistered: `x264 - core 164 … options: … keyint=250 …`.
public struct EncoderSettings: Equatable, Sendable {
    /// Frames between IDR pictures at most; nil for `keyint=infinite` and where absent.
    public var keyframeInterval: Int?
    /// B-frames in a row at most.
    public var bFrames: Int?
    /// The whole text, at most `maximumTextLength` bytes of it.
    public var text: String

    /// x264 writes about 700 bytes.
    public static let maximumTextLength = 2_048
    /// Messages looked at in one SEI NAL unit.
    static let maximumMessageCount = 16
    /// x264's user data UUID, dc45e9bd-e6d9-48b7-962c-d820d923eeef.
    static let identifier: [UInt8] = [
        0xDC, 0x45, 0xE9, 0xBD, 0xE6, 0xD9, 0x48, 0xB7, 0x96, 0x2C, 0xD8, 0x20, 0xD9, 0x23, 0xEE, 0xEF,
    ]

    /// Looks for x264's text in one NAL unit of type 6; nil when it has none. Other messages cost no allocation.
    public init?(inSEI nalUnit: RawSpan) {
        let text = unsafe nalUnit.withUnsafeBytes { unsafe Self.text(in: $0) }
        guard let text, text.contains("x264") || text.contains("options:") else { return nil }
        self.text = text
        for word in text.split(separator: " ") {
            if word.hasPrefix("keyint=") { keyframeInterval = Int(word.dropFirst("keyint=".count)) }
            if word.hasPrefix("bframes=") { bFrames = Int(word.dropFirst("bframes=".count)) }
        }
    }

    /// Walks the sei_message()s (clause 7.3.2.3.1). Sizes count bytes before emulation prevention, of which text has none.
    private static func text(in unit: UnsafeRawBufferPointer) -> String? {
        var position = 1
        for _ in 0..<maximumMessageCount {
            guard let type = unsafe variable(in: unit, at: &position), let size = unsafe variable(in: unit, at: &position) else {
                return nil
            }
            guard size <= unit.count - position else { return nil }
            let body = unsafe unit[position..<(position + size)]
            if type == 5, unsafe body.count > identifier.count, unsafe body.prefix(identifier.count).elementsEqual(identifier) {
                let text = unsafe body.dropFirst(identifier.count).prefix(maximumTextLength)
                return unsafe String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
            }
            position += size
        }
        return nil
    }

    /// A number as a run of 0xFF and a last byte.
    private static func variable(in unit: UnsafeRawBufferPointer, at position: inout Int) -> Int? {
        var value = 0
        while position < unit.count {
            let byte = unsafe unit[position]
            position += 1
            value += Int(byte)
            if byte != 0xFF { return value }
        }
        return nil
    }
}
