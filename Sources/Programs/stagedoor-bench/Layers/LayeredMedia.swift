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
    @Option(
        help: """
            Over how many seconds streams begin: a frame's time, as strangers' frames lie, or the interval of the file's keyframes, \
            as strangers' keyframes do.
            """)
    var apart = 0.033

    /// More than servers take, so that a fourth can be seen refused; a rid is one digit.
    private static let maximumLayers = 9

    func validate() throws {
        guard flv.count <= Self.maximumLayers else { throw ValidationError("at most \(Self.maximumLayers) layers") }
    }

    /// When the `index`th of so many streams begins.
    func delay(of index: Int, among count: Int) -> Duration { .seconds(apart * Double(index) / Double(max(1, count))) }

    func files() throws -> [FLVFile] { try flv.map(FLVFile.init) }
}
