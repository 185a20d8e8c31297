import DataDirectory
import Foundation
import Glibc
import Settings

/// Whether a start takes the data directory and what is in it, and who else may read keys. Nothing is made, changed or locked.
extension DoctorChecks {
    static func dataDirectory(_ configuration: StagedoorConfiguration) -> [Finding] {
        let given = configuration.store.directory
        // A slash at the end would have a link followed.
        let path = given.count > 1 && given.hasSuffix("/") ? String(given.dropLast()) : given
        guard let folder = FileStanding(path) else { return [absent(path)] }
        if folder.kind == S_IFLNK { return [.failure("store.directory: \(DataDirectoryError.link(path))")] }
        guard folder.kind == S_IFDIR else { return [.failure("store.directory: \(path) is no directory")] }
        guard folder.mode & S_IWOTH == 0 else { return [.failure("store.directory: \(DataDirectoryError.open(path))")] }
        // Root looks on behalf of the user to whom it belongs.
        guard [0, folder.owner].contains(geteuid()) else {
            return [.warning("store.directory: \(DataDirectoryError.foreign(path, owner: folder.owner))")]
        }
        let contents = contents(of: path)
        let found = unusable(contents, in: path, by: folder.owner) + exposed(contents, in: path, of: folder)
        return found.isEmpty ? [.fine("store.directory: \(path), which user \(folder.owner) alone can open")] : found
    }

    /// Keys that the configuration names. A group may read them: so a service's user gets at what belongs to root.
    static func keyFiles(_ configuration: StagedoorConfiguration) -> [Finding] {
        let named = configuration.certificates.map { ("certificates.\($0.key).privateKey", $0.value.privateKey) }
        let routers = configuration.routers.map { ("routers.\($0.key).privateKey", $0.value.privateKey) }
        let cluster = configuration.cluster
        let own = [
            ("tls.privateKey", configuration.tls.privateKey), ("cluster.platformKeyFile", cluster.platformKeyFile),
            ("cluster.redisPrivateKey", cluster.redisPrivateKey),
        ]
        return (own + named + routers).sorted { $0.0 < $1.0 }.compactMap { key, path in
            guard let file = FileStanding(path, isFollowed: true), file.mode & S_IROTH != 0 else { return nil }
            return .warning("\(key): everybody may read \(path) (mode \(file.modeText)): chmod o-r")
        }
    }

    /// A start makes it, but not the folder that it is in.
    private static func absent(_ path: String) -> Finding {
        let parent = URL(fileURLWithPath: path).standardizedFileURL.deletingLastPathComponent().path
        return FileManager.default.isWritableFile(atPath: parent)
            ? .fine("store.directory: \(path) is made at the first start")
            : .warning("store.directory: \(path) is not there, and this user cannot make it in \(parent)")
    }

    private typealias Contents = [(name: String, file: FileStanding)]

    /// What a start opens. Others may be let into quickstart's `recordings`.
    private static func contents(of path: String) -> Contents {
        let names = ["", "tls/"].flatMap { folder in
            ((try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)")) ?? []).sorted().map { folder + $0 }
        }
        return names.compactMap { name in FileStanding("\(path)/\(name)").map { (name: name, file: $0) } }
            .filter { $0.file.kind == S_IFREG || ["sdp", "spool", "tls"].contains($0.name) }
    }

    /// As after a restore by root.
    private static func unusable(_ contents: Contents, in path: String, by owner: uid_t) -> [Finding] {
        let names = contents.filter { $0.file.owner != owner || $0.file.mode & S_IRUSR == 0 }.map { $0.name }
        guard owner != 0, !names.isEmpty else { return [] }
        let list = names.joined(separator: ", ")
        return [.failure("store.directory: user \(owner) cannot use \(list) in \(path): chown -R \(owner), chmod u+rw")]
    }

    /// A start closes the directory, but not what is in it.
    private static func exposed(_ contents: Contents, in path: String, of folder: FileStanding) -> [Finding] {
        guard folder.mode & 0o077 != 0 else { return [] }
        let names = contents.filter { $0.file.kind == S_IFREG && $0.file.mode & (S_IRGRP | S_IROTH) != 0 }.map { $0.name }
        let files = names.isEmpty ? "" : ", and chmod 600 what they may read there: \(names.joined(separator: ", "))"
        return [.warning("store.directory: others get into \(path) (mode \(folder.modeText)): chmod 700 it\(files)")]
    }
}

/// What the system says of a file: what it is, whose, and who may do what with it.
private struct FileStanding {
    let owner: uid_t
    let kind: mode_t
    let mode: mode_t

    /// Nil where there is none, or it cannot be looked at.
    init?(_ path: String, isFollowed: Bool = false) {
        var status = stat()
        guard unsafe fstatat(AT_FDCWD, path, &status, isFollowed ? 0 : AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        (owner, kind, mode) = (status.st_uid, status.st_mode & S_IFMT, status.st_mode & 0o7777)
    }

    var modeText: String { String(mode, radix: 8) }
}
