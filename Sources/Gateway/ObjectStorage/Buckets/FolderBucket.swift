import Glibc

/// A folder that stands for a bucket: objects are files at their keys' paths, whole or not there.
struct FolderBucket {
    /// Our group reads, and whoever a default ACL of the folder names, which the group's bits bound. A set-group-id folder hands
    /// nothing down: these modes take its bit away, and systemd lets nobody set one.
    private static let folderMode: mode_t = 0o750
    private static let fileMode: mode_t = 0o640

    private let folder: String
    private let synchronise: (CInt) -> CInt

    /// - Parameter synchronise: fsync(2), which tests look at.
    init(_ folder: String, synchronise: @escaping (CInt) -> CInt = { fsync($0) }) {
        (self.folder, self.synchronise) = (folder, synchronise)
    }

    /// Returns when it is on disk under its name, so that the spool's file of it may go. New folders above it are on disk as soon as
    /// its file system says that what lies in them is.
    func put(_ object: StoredObject) throws(StorageFault) {
        guard let target = path(ofKey: object.key) else { throw .refused("\(object.key) is no key of a folder") }
        let draft = target + ".new"
        try makeFolders(above: target)
        // A crash may have left one that is the spool's own file: what is written into that is written into the spool.
        unsafe unlink(draft)
        defer { unsafe unlink(draft) }
        var isLinked = false
        switch object.content {
        case .bytes(let bytes):
            try fill(draft, isForced: !object.isProvisional) { file throws(StorageFault) in
                try write(bytes[...], to: file, draft)
            }
        case .file(let source):
            // The same disk needs no second copy, and keeps the order in which names come and go: the spool's of it goes later.
            isLinked = unsafe link(source, draft) == 0
            if !isLinked { try copy(source, to: draft) }
        }
        // File systems whose modes are those of the mount (CIFS, FAT) may refuse this: their readers need it not.
        unsafe chmod(draft, Self.fileMode)
        guard unsafe rename(draft, target) == 0 else { throw .system("write", target) }
        if !isLinked, !object.isProvisional { try synchroniseFolder(of: target) }
    }

    /// - Throws: `.refused` for what is not there, or is longer.
    func read(key: String, atMost length: Int) throws(StorageFault) -> [UInt8] {
        guard let path = path(ofKey: key) else { throw .refused("there is no object \(key)") }
        guard let file = unsafe fopen(path, "re") else {
            throw errno == ENOENT ? StorageFault.refused("there is no object \(key)") : .system("read", path)
        }
        defer { unsafe fclose(file) }
        var status = stat()
        guard unsafe fstat(fileno(file), &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= length else {
            throw .refused("\(key) is no object that is read")
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        guard unsafe fread(&bytes, 1, bytes.count, file) == bytes.count else { throw .system("read", path) }
        return bytes
    }

    func delete(key: String) { path(ofKey: key).map { _ = unsafe unlink($0) } }

    /// Nil for keys that lead out of the folder.
    private func path(ofKey key: String) -> String? {
        let parts = key.split(separator: "/", omittingEmptySubsequences: false)
        return parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." && !$0.contains("\0") } ? "\(folder)/\(key)" : nil
    }

    private func makeFolders(above path: String) throws(StorageFault) {
        let names = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        // But for a folder's first object all of them are there.
        guard unsafe access(names.joined(separator: "/"), F_OK) != 0 else { return }
        for count in 1...names.count where !names[count - 1].isEmpty {
            let folder = names.prefix(count).joined(separator: "/")
            if unsafe mkdir(folder, Self.folderMode) == 0 {
                unsafe chmod(folder, Self.folderMode)
            } else if errno != EEXIST {
                throw .system("create", folder)
            }
        }
    }

    /// A file's name is written there, not in the file.
    private func synchroniseFolder(of path: String) throws(StorageFault) {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // One that may be written to, and not read, cannot be forced.
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // EINVAL: of file systems that keep no folders to be synchronised.
        guard synchronise(descriptor) == 0 || errno == EINVAL else { throw .system("write", folder) }
    }

    private func copy(_ source: String, to draft: String) throws(StorageFault) {
        guard let input = unsafe fopen(source, "re") else { throw .system("read", source) }
        defer { unsafe fclose(input) }
        try fill(draft, isForced: true) { file throws(StorageFault) in
            var part = [UInt8](repeating: 0, count: 256 * 1024)
            while true {
                let count = unsafe fread(&part, 1, part.count, input)
                guard count > 0 else { break }
                try write(part[..<count], to: file, draft)
            }
            guard unsafe ferror(input) == 0 else { throw StorageFault.system("read", source) }
        }
    }

    private func fill(_ path: String, isForced: Bool, _ body: (CInt) throws(StorageFault) -> Void) throws(StorageFault) {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw .system("write", path) }
        defer { close(file) }
        try body(file)
        guard !isForced || synchronise(file) == 0 else { throw .system("write", path) }
    }

    /// Without stdio: `exit` would write out what that keeps, and wait for a disk that hangs.
    private func write(_ bytes: ArraySlice<UInt8>, to file: CInt, _ path: String) throws(StorageFault) {
        var rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system("write", path) }
            rest = rest.dropFirst(count)
        }
    }
}
