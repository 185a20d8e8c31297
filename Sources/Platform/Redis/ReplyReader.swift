import CHiredis

/// Cuts a byte stream into answers with hiredis' parser. Sole owner of its `redisReader`.
///
/// hiredis tells what it finds as tokens, in order, and the tree of values is built here: so an answer is copied once, holds no
/// memory of hiredis', and its size is bounded before anything is allocated for it.
@safe
final class ReplyReader {
    let limits: RedisLimits
    private let reader: UnsafeMutablePointer<redisReader>
    /// Of the answer that is being read.
    private let tokens: ReplyTokens
    /// Fed since the last whole answer.
    private var bytesInWaiting = 0

    init(limits: RedisLimits) {
        self.limits = limits
        guard let reader = unsafe redisReaderCreateWithFunctions(ReplyTokens.functions) else {
            preconditionFailure("a reader fails only without memory")
        }
        unsafe self.reader = reader
        tokens = ReplyTokens(maximumCount: limits.maximumReplyElements)
        unsafe reader.pointee.privdata = Unmanaged.passUnretained(tokens).toOpaque()
    }

    deinit { unsafe redisReaderFree(reader) }

    func feed(_ bytes: UnsafeRawBufferPointer) {
        bytesInWaiting += bytes.count
        unsafe redisReaderFeed(reader, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
    }

    /// The next whole answer; nil when more bytes are needed. After an error the stream cannot be read any further.
    func next() throws(RedisProtocolError) -> RedisValue? {
        var reply: UnsafeMutableRawPointer?
        let status = unsafe redisReaderGetReply(reader, &reply)
        if tokens.areTooMany { throw .tooLong }
        guard status == REDIS_OK else { throw .malformed(fault) }
        guard unsafe reply != nil else {
            if bytesInWaiting > limits.maximumReplyBytes { throw .tooLong }
            return nil
        }
        bytesInWaiting = unsafe reader.pointee.len - reader.pointee.pos
        return tokens.takeValue()
    }

    private var fault: String {
        unsafe withUnsafeBytes(of: reader.pointee.errstr) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

/// Bytes that are not what a server says.
public enum RedisProtocolError: Error, Equatable, Sendable {
    /// In hiredis' words.
    case malformed(String)
    /// `RedisLimits.maximumReplyBytes` or `maximumReplyElements`.
    case tooLong
    /// An answer that nobody asked for.
    case unasked
}
