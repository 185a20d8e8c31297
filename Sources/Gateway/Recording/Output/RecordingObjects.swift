import HLS
import ObjectStorage

/// The objects that are made of a recording: files of its folder, and playlists by its book. A value.
struct RecordingObjects {
    private let keys: ObjectKeys
    private let folder: SpoolFolder

    init(prefix: String, in folder: SpoolFolder) { (keys, self.folder) = (ObjectKeys(prefix: prefix), folder) }

    func initialization(_ number: Int) -> StoredObject {
        file(folder.initialization(number), keys.initialization(number), ObjectKeys.segmentType)
    }

    func segment(_ number: Int) -> StoredObject {
        file(folder.segment(number), keys.segment(number), ObjectKeys.segmentType)
    }

    func thumbnail(_ number: Int) -> StoredObject {
        file(folder.thumbnail(number), keys.thumbnail(number), ObjectKeys.thumbnailType)
    }

    func latestThumbnail(_ jpeg: [UInt8]) -> StoredObject {
        StoredObject(key: keys.latestThumbnail, contentType: ObjectKeys.thumbnailType, content: .bytes(jpeg))
    }

    func playlist(of book: RecordingBook, isFinal: Bool) -> StoredObject {
        text(book.playlist(hasEnded: isFinal).text, keys.playlist, isFinal: isFinal)
    }

    func multivariant(of book: RecordingBook, isFinal: Bool) -> StoredObject {
        text(book.multivariant(isFinal: isFinal)?.text ?? "", keys.multivariant, isFinal: isFinal)
    }

    private func file(_ path: String, _ key: String, _ type: String) -> StoredObject {
        StoredObject(key: key, contentType: type, content: .file(path))
    }

    private func text(_ text: String, _ key: String, isFinal: Bool) -> StoredObject {
        StoredObject(
            key: key, contentType: ObjectKeys.playlistType, content: .bytes(Array(text.utf8)), isProvisional: !isFinal)
    }
}
