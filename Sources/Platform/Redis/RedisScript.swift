import OpenSSL

/// A Lua script, known to servers by its SHA-1 once they have seen it.
public struct RedisScript: Sendable {
    public let source: String
    let digest: String

    public init(_ source: String) {
        self.source = source
        digest = Digest.sha1(Array(source.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    func command(_ isKnown: Bool, keys: [RedisArgument], arguments: [RedisArgument]) -> RedisCommand {
        let script: [RedisArgument] = isKnown ? ["EVALSHA", RedisArgument(digest)] : ["EVAL", RedisArgument(source)]
        return RedisCommand(script + [RedisArgument(keys.count)] + keys + arguments)
    }
}
