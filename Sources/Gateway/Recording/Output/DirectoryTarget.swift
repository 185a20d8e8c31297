import Glibc

/// A bucket that is a folder of this machine: keys are paths below it.
@safe public struct DirectoryTarget: RecordingTarget {
    private let path: String

    /// - Parameter path: of the folder; it is made when the first object comes.
    public init(path: String) { self.path = path }

    /// Stores at once: a file of the spool on the same file system becomes another name of the same bytes.
    public func put(_ object: RecordedObject, then: @escaping @Sendable (Result<Void, RecordingTargetError>) -> Void) {
        do throws(RecordingTargetError) {
            try store(object)
        } catch {
            return then(.failure(error))
        }
        then(.success(()))
    }

    private func store(_ object: RecordedObject) throws(RecordingTargetError) {
        let place = try place(of: object.key)
        let draft = place + ".new"
        // Where both names are of the same bytes already, renaming leaves them.
        defer { SpoolFile.remove(draft) }
        switch object.content {
        case .bytes(let bytes): try write(bytes, to: draft, isForced: !object.isProvisional)
        case .file(let source, _):
            if unsafe link(source, draft) == 0 { break }
            // A crash may have left a draft: what is written into that is written into the spool.
            SpoolFile.remove(draft)
            if unsafe link(source, draft) != 0 { try copy(source, to: draft) }
        }
        guard unsafe rename(draft, place) == 0 else { throw Self.failure("rename to \(place)") }
    }

    /// The path of a key whose parts are names, and its folders made.
    private func place(of key: String) throws(RecordingTargetError) -> String {
        let parts = key.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." && !$0.utf8.contains(0) }) else {
            throw RecordingTargetError("\(key) is no path below a folder")
        }
        let names = [path] + parts.dropLast().map(String.init)
        // But for a folder's first object all of them are there.
        if unsafe access(names.joined(separator: "/"), F_OK) != 0 { try makeFolders(names) }
        return "\(path)/\(key)"
    }

    /// - Parameter names: each of a folder in the one before it.
    private func makeFolders(_ names: [String]) throws(RecordingTargetError) {
        for count in 1...names.count {
            let folder = names.prefix(count).joined(separator: "/")
            guard unsafe mkdir(folder, 0o755) == 0 || errno == EEXIST else { throw Self.failure("create \(folder)") }
        }
    }

    private func write(_ bytes: [UInt8], to path: String, isForced: Bool) throws(RecordingTargetError) {
        do throws(SpoolError) {
            let file = try SpoolFile(creating: path)
            try file.append(bytes)
            if isForced { try file.synchronise() }
        } catch {
            throw Self.failure(error)
        }
    }

    /// From another file system, block by block.
    private func copy(_ source: String, to draft: String) throws(RecordingTargetError) {
        let input = unsafe open(source, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw Self.failure("open \(source)") }
        defer { close(input) }
        var block = [UInt8](repeating: 0, count: Self.blockByteCount)
        do throws(SpoolError) {
            let file = try SpoolFile(creating: draft)
            while true {
                let count = unsafe read(input, &block, block.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw SpoolError("read \(source)", errno) }
                if count == 0 { break }
                try file.append(Array(block.prefix(count)))
            }
            try file.synchronise()
        } catch {
            throw Self.failure(error)
        }
    }

    private static func failure(_ step: String) -> RecordingTargetError { failure(SpoolError(step, errno)) }

    /// A disk that is full may be emptied, one that fails may be mounted anew; who may not write will not.
    private static func failure(_ error: SpoolError) -> RecordingTargetError {
        let isLasting = [EACCES, EPERM, EROFS, ENOENT, ENOTDIR, ENAMETOOLONG].contains(error.code)
        return RecordingTargetError("\(error)", isPassing: !isLasting)
    }

    private static let blockByteCount = 1 << 18
}
