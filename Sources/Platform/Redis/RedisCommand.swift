import OpenSSL
public import Wire

/// One command: its name and arguments.
public struct RedisCommand: Hashable, Sendable {
    /// The name first.
    public let arguments: [RedisArgument]

    /// `RedisCommand("SET", "key", 7)`.
    public init(_ name: RedisArgument, _ arguments: RedisArgument...) { self.arguments = [name] + arguments }
    /// The name and its arguments, at least the name.
    public init(_ arguments: [RedisArgument]) { self.arguments = arguments }

    /// As an array of bulk strings, which is how requests travel (RESP2).
    func append(to bytes: inout [UInt8]) {
        bytes += "*\(arguments.count)\r\n".utf8
        for argument in arguments {
            bytes += "$\(argument.bytes.count)\r\n".utf8
            bytes += argument.bytes
            bytes += "\r\n".utf8
        }
    }
}

extension RedisCommand: ExpressibleByStringLiteral {
    /// A command of one word.
    public init(stringLiteral name: String) { self.init(RedisArgument(name)) }
}

/// Who we are to the server. Without a user it is the password alone (`requirepass`).
public struct RedisCredential: Sendable {
    /// Nil for the default user.
    public let user: String?
    /// Never in a log.
    public let password: Secret

    /// A user of an ACL, or the password alone.
    public init(user: String? = nil, password: Secret) { (self.user, self.password) = (user, password) }

    var command: RedisCommand {
        RedisCommand(["AUTH"] + (user.map { [RedisArgument($0)] } ?? []) + [RedisArgument(password.reveal())])
    }
}

/// One word of a command: bytes, of which text and numbers are the common kinds.
public struct RedisArgument: Hashable, Sendable {
    /// As they are sent; any bytes will do.
    public let bytes: [UInt8]

    /// The bytes themselves.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }
    /// Its UTF-8.
    public init(_ text: some StringProtocol) { bytes = Array(text.utf8) }
    /// In decimal digits.
    public init(_ number: some BinaryInteger) { bytes = Array("\(number)".utf8) }
}

extension RedisArgument: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral {
    /// A text.
    public init(stringLiteral text: String) { self.init(text) }
    /// A number.
    public init(integerLiteral number: Int) { self.init(number) }
}

/// A Lua script, known to servers by its SHA-1 once they have seen it.
public struct RedisScript: Sendable {
    /// Its text.
    public let source: String
    let digest: String

    /// The digest is computed here: keep the value.
    public init(_ source: String) {
        self.source = source
        digest = String(hexadecimal: Digest.sha1(Array(source.utf8)))
    }

    func command(_ isKnown: Bool, keys: [RedisArgument], arguments: [RedisArgument]) -> RedisCommand {
        let script: [RedisArgument] = isKnown ? ["EVALSHA", RedisArgument(digest)] : ["EVAL", RedisArgument(source)]
        return RedisCommand(script + [RedisArgument(keys.count)] + keys + arguments)
    }
}
