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
        unsafe withUnsafeMutablePointer(to: &notes) { notes in
            unsafe shim_package_notes(
                { note, count, notes in
                    guard let note = unsafe note, let notes = unsafe notes else { return }
                    let text = unsafe Data(bytes: note, count: count)
                    let found = unsafe notes.assumingMemoryBound(to: [PackageNote].self)
                    if let note = try? JSONDecoder().decode(PackageNote.self, from: text) { unsafe found.pointee.append(note) }
                }, unsafe notes)
        }
        // Three libraries are one package: FFmpeg's.
        return Dictionary(notes.map { ($0.name, $0.version) }) { first, _ in first }
    }

    private struct PackageNote: Decodable { var name, version: String }

    /// What the others say of themselves.
    private static var spoken: [String: String] {
        tellers.reduce(into: [:]) { versions, teller in
            guard let symbol = unsafe dlsym(nil, teller.function) else { return }
            let tell = unsafe unsafeBitCast(symbol, to: (@convention(c) (CInt) -> UnsafePointer<CChar>?).self)
            let words = unsafe tell(0).map { unsafe String(cString: $0) } ?? ""
            versions[teller.library] = words.firstMatch(of: /\d+\.[^\s\/]+/).map { String($0.output) }
        }
    }

    /// Each answers a sentence with the version in it. OpenSSL's takes a number, 0 for this question; the others take nothing,
    /// and never look at it.
    private static let tellers: [(library: String, function: String)] = [
        ("OpenSSL", "OpenSSL_version"), ("libevent", "event_get_version"), ("libcurl", "curl_version"),
        ("Opus", "opus_get_version_string"), ("SQLite", "sqlite3_libversion"), ("libsrtp2", "srtp_get_version_string"),
        ("ffmpeg", "av_version_info"),
    ]
}

/// Of this Stagedoor, as the command, the log and the metrics say it.
public enum Version {
    public static let current = "0.1.0"
}

/// Finds stock libraries in place of the trimmed ones that scripts/install-deps builds.
enum LibraryCheck {
    static var warnings: [String] {
        let maps = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
        var warnings: [String] = []
        if maps.contains("libnss3") || maps.contains("libnspr4") {
            warnings.append("libsrtp2 runs on NSS, which collapses with many WHIP sessions: build with make, which uses .deps")
        }
        if maps.contains("libgupnp") || maps.contains("libx265") {
            warnings.append("stock libnice or libavcodec drag in a hundred libraries: build with make, which uses .deps")
        }
        return warnings
    }
}
