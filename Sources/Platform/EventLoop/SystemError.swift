import Glibc

/// A system call that failed: its name and errno. Prints as `bind: Address already in use`.
public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    public let call: String
    public let code: CInt

    public init(call: String, code: CInt) { (self.call, self.code) = (call, code) }

    /// For a call that has just failed: the code is `errno`.
    public init(call: String) { self.init(call: call, code: errno) }

    public var description: String { unsafe "\(call): \(String(cString: strerror(code)))" }
}
