import EventLoop
import Foundation

/// The folder in which recordings lie until they are stored, and how much may lie there. Confined to the writer's thread.
///
/// A bucket may have nine times what it leaves free: one that takes nothing any more ends what is
/// recorded for it, and others' go on.
final class Spool {
    let path: String
    let maximumByteCount: Int
    /// Of all segments and thumbnails that are not stored yet.
    private(set) var byteCount = 0
    /// Of them those of each bucket.
    private var byteCounts: [String: Int] = [:]

    /// - Throws: when the folder cannot be made.
    init(path: String, maximumByteCount: Int) throws(SystemError) {
        (self.path, self.maximumByteCount) = (path, maximumByteCount)
        guard (try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)) != nil else {
            throw SystemError(call: "mkdir \(path)")
        }
    }

    /// The folders of recordings that are not closed, by name.
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

    /// - Returns: false where the bucket has its share; nothing is taken then.
    fileprivate func take(_ count: Int, for bucket: String) -> Bool {
        let (own, free) = (byteCounts[bucket, default: 0] + count, maximumByteCount - byteCount - count)
        guard own <= Self.largestShare * free else { return false }
        add(count, for: bucket)
        return true
    }

    fileprivate func add(_ count: Int, for bucket: String) {
        byteCount += count
        byteCounts[bucket, default: 0] += count
    }

    private static let largestShare = 9
    private static let maximumNamesakes = 1_000
}

/// What the recordings of one bucket have of the spool.
struct SpoolShare {
    let spool: Spool
    let bucket: String

    /// - Returns: false where there is no room for it; nothing is taken then.
    func take(_ count: Int) -> Bool { spool.take(count, for: bucket) }

    /// Takes what lies there already.
    func adopt(_ count: Int) { spool.add(count, for: bucket) }

    func release(_ count: Int) { spool.add(-count, for: bucket) }
}
