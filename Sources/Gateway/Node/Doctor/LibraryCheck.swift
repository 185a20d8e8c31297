import Foundation

/// Tells stock libraries from the trimmed ones that scripts/install-deps builds.
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
