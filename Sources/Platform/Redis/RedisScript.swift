import OpenSSL
import Wire

/// A Lua script, known to servers by its SHA-1 once they have seen it.
public struct RedisScript: Sendable {
    public let source: String
    let digest: String

    public init(_ source: String) {
        self.source = source
        digest = String(hexadecimal: Digest.sha1(Array(source.utf8)))
    }

    func command(_ isKnown: Bool, keys: [RedisArgument], arguments: [RedisArgument]) -> RedisCommand {
        let script: [RedisArgument] = isKnown ? ["EVALSHA", RedisArgument(digest)] : ["EVAL", RedisArgument(source)]
        return RedisCommand(script + [RedisArgument(keys.count)] + keys + arguments)
    }
}
