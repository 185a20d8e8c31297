import Foundation

/// The folder in which recordings lie until they are stored, and how much may lie there. Confined to the writer's thread.
final class Spool {
    let path: String
    let maximumByteCount: Int
    /// Of all segments that are not stored yet.
    private(set) var byteCount = 0

    /// - Throws: `SpoolError` when the folder cannot be made.
    init(path: String, maximumByteCount: Int) throws(SpoolError) {
        (self.path, self.maximumByteCount) = (path, maximumByteCount)
        guard (try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)) != nil else {
            throw SpoolError("create \(path)", errno)
        }
    }

    /// The folders of recordings that are not closed, oldest first.
    var folders: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { !$0.hasPrefix(".") }.sorted().map { "\(path)/\($0)" }
    }

    /// Makes a folder that nobody else has.
    func makeFolder(_ name: String) throws(SpoolError) -> String {
        for number in 0..<Self.maximumNamesakes {
            let folder = number == 0 ? "\(path)/\(name)" : "\(path)/\(name)-\(number)"
            if unsafe mkdir(folder, 0o700) == 0 { return folder }
            guard errno == EEXIST else { throw SpoolError("create \(folder)", errno) }
        }
        throw SpoolError("create \(path)/\(name)", EEXIST)
    }

    func remove(_ folder: String) { try? FileManager.default.removeItem(atPath: folder) }

    /// - Returns: false when the spool is full; nothing is taken then.
    func take(_ count: Int) -> Bool {
        guard byteCount + count <= maximumByteCount else { return false }
        byteCount += count
        return true
    }

    func adopt(_ count: Int) { byteCount += count }
    func release(_ count: Int) { byteCount -= count }

    private static let maximumNamesakes = 1_000
}
