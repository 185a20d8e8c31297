import ArgumentParser

/// What the publishers of both protocols send: one prepared file, or several as layers.
struct LayeredMedia: ParsableArguments {
    @Option(
        help: """
            FLV file with H.264 and AAC (WHIP leaves its audio out). Repeat it for layers of one length: they are sent in this \
            order, by WHIP with the rids 0, 1, 2, by RTMP as further tracks of Enhanced RTMP.
            """)
    var flv: [String]
    @Option(
        help: """
            Layer and seconds of media in which it sends nothing, such as 0:5-10, or 0:5- for good (repeat it); it goes on at a \
            keyframe.
            """)
    var rest: [LayerRest] = []

    /// More than servers take, so that a fourth can be seen refused; a rid is one digit.
    private static let maximumLayers = 9

    func validate() throws {
        guard flv.count <= Self.maximumLayers else { throw ValidationError("at most \(Self.maximumLayers) layers") }
    }

    func files() throws -> [FLVFile] { try flv.map(FLVFile.init) }
}
