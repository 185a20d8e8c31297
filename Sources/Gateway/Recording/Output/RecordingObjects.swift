import HLS

/// The objects that are made of a recording: files of its folder, and playlists by its book. A value.
struct RecordingObjects {
    private let keys: ObjectKeys
    private let folder: SpoolFolder

    init(prefix: String, in folder: SpoolFolder) { (keys, self.folder) = (ObjectKeys(prefix: prefix), folder) }

    func initialization(_ number: Int) -> RecordedObject {
        file(folder.initialization(number), keys.initialization(number), ObjectKeys.segmentType)
    }

    func segment(_ number: Int, of book: RecordingBook) -> RecordedObject {
        let segment = book.spooledSegments.first { $0.start.number == number }
        return file(folder.segment(number), keys.segment(number), ObjectKeys.segmentType, byteCount: segment?.byteCount)
    }

    func thumbnail(_ number: Int) -> RecordedObject {
        file(folder.thumbnail(number), keys.thumbnail(number), ObjectKeys.thumbnailType)
    }

    func latestThumbnail(_ jpeg: [UInt8]) -> RecordedObject {
        RecordedObject(key: keys.latestThumbnail, content: .bytes(jpeg), contentType: ObjectKeys.thumbnailType)
    }

    func playlist(of book: RecordingBook, isFinal: Bool) -> RecordedObject {
        text(book.playlist(hasEnded: isFinal).text, keys.playlist, isFinal: isFinal)
    }

    func multivariant(of book: RecordingBook, isFinal: Bool) -> RecordedObject {
        text(book.multivariant(isFinal: isFinal)?.text ?? "", keys.multivariant, isFinal: isFinal)
    }

    private func file(_ path: String, _ key: String, _ type: String, byteCount: Int? = nil) -> RecordedObject {
        let count = byteCount ?? SpoolFile.byteCount(of: path) ?? 0
        return RecordedObject(key: key, content: .file(path: path, byteCount: count), contentType: type)
    }

    private func text(_ text: String, _ key: String, isFinal: Bool) -> RecordedObject {
        RecordedObject(
            key: key, content: .bytes(Array(text.utf8)), contentType: ObjectKeys.playlistType, isProvisional: !isFinal)
    }
}
