public import Wire

/// One command: its name and arguments.
public struct RedisCommand: Hashable, Sendable {
    public let arguments: [RedisArgument]

    public init(_ name: RedisArgument, _ arguments: RedisArgument...) { self.arguments = [name] + arguments }
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
    public let user: String?
    public let password: Secret

    public init(user: String? = nil, password: Secret) { (self.user, self.password) = (user, password) }

    var command: RedisCommand {
        RedisCommand(["AUTH"] + (user.map { [RedisArgument($0)] } ?? []) + [RedisArgument(password.reveal())])
    }
}
