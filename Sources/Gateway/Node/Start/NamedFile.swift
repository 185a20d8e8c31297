import Foundation

/// A file that an operator named, in the configuration or on the command line: a key, a certificate.
public enum NamedFile {
    /// Why it cannot be read, as the system says it: Foundation's own words are for programmers.
    public struct Unreadable: Error, CustomStringConvertible {
        let path: String
        let reason: String

        public var description: String { "\(path): \(reason)" }
    }

    /// The whole file.
    public static func read(_ path: String) throws(Unreadable) -> [UInt8] {
        do {
            return try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            let fault = (error as? CocoaError)?.underlying as? POSIXError
            let reason = fault.map { unsafe String(cString: strerror($0.code.rawValue)) }
            throw Unreadable(path: path, reason: reason ?? "cannot be read")
        }
    }
}
