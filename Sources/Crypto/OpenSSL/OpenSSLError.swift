import COpenSSL

/// A call into OpenSSL that failed: its name and the newest entry of the thread's error queue.
public struct OpenSSLError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The function that failed, or what was wrong in words.
    public let call: String
    /// OpenSSL's packed library and reason; 0 when the queue was empty.
    public let code: UInt

    /// From its parts; 0 stands for a failure that OpenSSL did not explain.
    public init(call: String, code: UInt) { (self.call, self.code) = (call, code) }

    /// Takes the newest error and empties the queue, so that the next call does not find it and blame itself.
    static func drain(_ call: String) -> OpenSSLError {
        let code = ERR_peek_last_error()
        ERR_clear_error()
        return OpenSSLError(call: call, code: UInt(code))
    }

    /// Throws unless an OpenSSL function said success, which is 1 or more.
    static func check(_ status: Int32, _ call: String) throws(OpenSSLError) {
        if status <= 0 { throw drain(call) }
    }

    /// Unwraps what an OpenSSL function made.
    static func check<Handle>(_ handle: Handle?, _ call: String) throws(OpenSSLError) -> Handle {
        guard let handle else { throw drain(call) }
        return handle
    }

    /// OpenSSL's words for the reason, such as `certificate verify failed`.
    public var reason: String {
        guard let text = unsafe ERR_reason_error_string(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }

    public var description: String { code == 0 ? call : "\(call): \(reason)" }
}
