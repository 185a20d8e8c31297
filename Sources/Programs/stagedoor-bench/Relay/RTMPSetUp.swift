import Glibc

/// The answers that librtmp waits for, whatever it asks in between.
enum RTMPSetUp {
    private static let handshakeByteCount = 1_536

    /// Speaks with a client until it may publish; false, and the connection closed, when it has gone away.
    static func answer(_ connection: CInt) -> Bool {
        guard shakeHands(connection), hear("connect", on: connection), send(result(1, .null), on: connection),
            hear("createStream", on: connection), send(result(4, .number(1)), on: connection), hear("live", on: connection),
            send(publishStart, on: connection)
        else {
            close(connection)
            return false
        }
        return true
    }

    /// RTMP 1.0 §5.2: C0 and C1, S0, S1 and S2, C2. Version 0 in S1 asks for no digest.
    private static func shakeHands(_ connection: CInt) -> Bool {
        var hello = [UInt8](repeating: 0, count: 1 + handshakeByteCount)
        guard unsafe recv(connection, &hello, hello.count, CInt(MSG_WAITALL)) == hello.count else { return false }
        let answer = [3] + [UInt8](repeating: 0, count: handshakeByteCount) + hello.dropFirst()
        guard send(answer, on: connection) else { return false }
        var last = [UInt8](repeating: 0, count: handshakeByteCount)
        return unsafe recv(connection, &last, last.count, CInt(MSG_WAITALL)) == last.count
    }

    /// Reads until an AMF string has come; what lies behind it in the same command is short and comes with it.
    private static func hear(_ word: String, on connection: CInt) -> Bool {
        let pattern = string(word)
        var (said, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
        while !contains(pattern, in: said) {
            let count = unsafe recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return false }
            said += buffer[..<count]
        }
        return true
    }

    private static func contains(_ pattern: [UInt8], in bytes: [UInt8]) -> Bool {
        bytes.indices.contains { bytes[$0...].starts(with: pattern) }
    }

    private static func send(_ bytes: [UInt8], on connection: CInt) -> Bool {
        unsafe Glibc.send(connection, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count
    }

    // MARK: - Commands

    private enum Value { case null, number(Double) }

    private static func result(_ transaction: Double, _ value: Value) -> [UInt8] {
        let last =
            switch value {
            case .null: [UInt8(5)]
            case .number(let number): self.number(number)
            }
        return message(string("_result") + number(transaction) + [5] + last)
    }

    private static var publishStart: [UInt8] {
        let code = Array("code".utf8)
        let information = [3, 0, UInt8(code.count)] + code + string("NetStream.Publish.Start") + [0, 0, 9]
        return message(string("onStatus") + number(0) + [5] + information)
    }

    /// Of one chunk: all of them are shorter than 128 bytes.
    private static func message(_ body: [UInt8]) -> [UInt8] {
        [3, 0, 0, 0, 0, 0, UInt8(body.count), 20, 0, 0, 0, 0] + body
    }

    private static func string(_ text: String) -> [UInt8] { [2, 0, UInt8(text.utf8.count)] + Array(text.utf8) }

    private static func number(_ value: Double) -> [UInt8] {
        [0] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: value.bitPattern >> ($0 * 8)) }
    }
}
