import CShim
import Foundation

/// The C libraries in this process with their versions: as they are loaded, not as the program was built.
enum LibraryVersions {
    /// Such as `libsrtp2 2.5.0-3`, in the order of their names.
    static var inUse: [String] {
        spoken.merging(noted) { $1 }.map { "\($0) \($1)" }.sorted { $0.lowercased() < $1.lowercased() }
    }

    /// Those that scripts/install-deps built: their package notes have the version of Debian's source.
    private static var noted: [String: String] {
        var notes: [PackageNote] = []
        withUnsafeMutablePointer(to: &notes) { notes in
            shim_package_notes(
                { note, count, notes in
                    let text = Data(bytes: note!, count: count)
                    let found = notes!.assumingMemoryBound(to: [PackageNote].self)
                    if let note = try? JSONDecoder().decode(PackageNote.self, from: text) { found.pointee.append(note) }
                }, notes)
        }
        // Three libraries are one package: FFmpeg's.
        return Dictionary(notes.map { ($0.name, $0.version) }) { first, _ in first }
    }

    private struct PackageNote: Decodable { var name, version: String }

    /// What the others say of themselves.
    private static var spoken: [String: String] {
        tellers.reduce(into: [:]) { versions, teller in
            guard let symbol = dlsym(nil, teller.function) else { return }
            let tell = unsafeBitCast(symbol, to: (@convention(c) (CInt) -> UnsafePointer<CChar>?).self)
            let words = tell(0).map { String(cString: $0) } ?? ""
            versions[teller.library] = words.firstMatch(of: /\d+\.[^\s\/]+/).map { String($0.output) }
        }
    }

    /// Each answers a sentence with the version in it. OpenSSL's takes a number, 0 for this question; the others take nothing, and
    /// never look at it.
    private static let tellers: [(library: String, function: String)] = [
        ("OpenSSL", "OpenSSL_version"), ("libevent", "event_get_version"), ("libcurl", "curl_version"),
        ("Opus", "opus_get_version_string"), ("SQLite", "sqlite3_libversion"), ("libsrtp2", "srtp_get_version_string"),
        ("ffmpeg", "av_version_info"),
    ]
}
