/// Several files as one stream: the first as it is, the video of the others as further tracks of Enhanced RTMP v2.
extension FLVFile {
    /// "avc1", as the tags of tracks but the first have it.
    fileprivate static let codec = Array("avc1".utf8)
    /// ExVideoTagHeader: IsExHeader, and the packet type that announces tracks.
    fileprivate static let extendedHeader: UInt8 = 0x80
    fileprivate static let multitrackPacketType: UInt8 = 6
    /// AvMultitrackType in the upper half of its byte: one track a message, which OBS sends.
    fileprivate static let oneTrack: UInt8 = 0 << 4
    /// Frame type and codec, packet type, composition time (FLV E.4.3.1).
    fileprivate static let legacyHeadByteCount = 5

    /// - Precondition: there is one at least. What further ones have beyond its length is left out.
    init(layers: [FLVFile]) {
        self = layers[0]
        for (track, layer) in layers.enumerated().dropFirst() {
            add(layer.tags.filter { $0.timestamp < duration }.compactMap { $0.asTrack(track) })
        }
    }
}

extension FLVFile.Tag {
    /// Latency is measured on the first track alone.
    var takesMark: Bool { kind == .video && !isSequenceHeader && track == 0 }

    /// An AVC video tag as one of another track; nil for what is none.
    fileprivate func asTrack(_ track: Int) -> FLVFile.Tag? {
        guard kind == .video, body.count >= FLVFile.legacyHeadByteCount, body[0] & 0x0F == 7 else { return nil }
        // The packet types 0 to 2 are the same ones; configuration has no composition time here.
        let head = [FLVFile.extendedHeader | body[0] & 0x70 | FLVFile.multitrackPacketType, FLVFile.oneTrack | body[1]]
        let rest = body.dropFirst(body[1] == 1 ? 2 : FLVFile.legacyHeadByteCount)
        var tag = self
        tag.body = head + FLVFile.codec + [UInt8(track)] + rest
        tag.track = track
        return tag
    }
}
