import Glibc

/// A system call that failed: its name and errno. Prints as `bind: Address already in use`.
public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Which call, with what it was about where that helps: `bind 0.0.0.0:1935`.
    public let call: String
    /// Its errno.
    public let code: CInt

    /// For a call that returns its error code instead of setting `errno`.
    public init(call: String, code: CInt) { (self.call, self.code) = (call, code) }

    /// For a call that has just failed: the code is `errno`.
    public init(call: String) { self.init(call: call, code: errno) }

    /// The call and the kernel's words for the code.
    public var description: String { unsafe "\(call): \(String(cString: strerror(code)))" }
}
