import CHiredis

/// Cuts a byte stream into answers with hiredis' parser. Sole owner of its `redisReader`.
///
/// hiredis reports what it finds as tokens, in order, and the tree of values is built here: so an answer is copied once, holds no
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

/// One answer as hiredis reads it: each value when it begins, arrays before their elements.
@safe
private final class ReplyTokens {
    private enum Token {
        case leaf(RedisValue)
        case array(count: Int)
    }

    private let maximumCount: Int
    private(set) var areTooMany = false
    private var tokens: [Token] = []
    /// Announced by arrays and not seen yet: an array's count is believed only as far as the limit.
    private var announced = 0

    init(maximumCount: Int) { self.maximumCount = maximumCount }

    /// The answer, and an empty list for the next.
    func takeValue() -> RedisValue {
        var rest = tokens[...]
        let value = Self.value(from: &rest)
        (tokens, announced) = ([], 0)
        return value
    }

    /// Recursion is as deep as hiredis lets arrays nest.
    private static func value(from tokens: inout ArraySlice<Token>) -> RedisValue {
        switch tokens.popFirst() {
        case .leaf(let value)?: return value
        case .array(let count)?: return .array((0..<count).map { _ in value(from: &tokens) })
        case nil: preconditionFailure("hiredis ended an array before its last element")
        }
    }

    private func add(_ token: Token, announcing count: Int = 0) -> Bool {
        // The first is the answer itself; an array announced every other one.
        if !tokens.isEmpty { announced -= 1 }
        announced += count
        areTooMany = areTooMany || tokens.count + announced > maximumCount
        guard !areTooMany else { return false }
        tokens.append(token)
        return true
    }
}

// MARK: - hiredis' callbacks

extension ReplyTokens {
    /// Lives as long as the process: readers keep a pointer to it.
    nonisolated(unsafe) static let functions: UnsafeMutablePointer<redisReplyObjectFunctions> = {
        let table = UnsafeMutablePointer<redisReplyObjectFunctions>.allocate(capacity: 1)
        unsafe table.initialize(
            to: redisReplyObjectFunctions(
                createString: { task, bytes, count in
                    unsafe add(to: task) { unsafe .leaf(string(task, UnsafeRawBufferPointer(start: bytes, count: count))) }
                },
                createArray: { task, count in unsafe add(to: task, announcing: Int(count)) { .array(count: Int(count)) } },
                createInteger: { task, value in unsafe add(to: task) { .leaf(.integer(value)) } },
                createNil: { task in unsafe add(to: task) { .leaf(.null) } },
                freeObject: { _ in }))
        return unsafe table
    }()

    /// What hiredis takes for the object is the list of tokens; nil makes it give up the answer.
    private static func add(
        to task: UnsafePointer<redisReadTask>?, announcing count: Int = 0, _ token: () -> Token
    ) -> UnsafeMutableRawPointer? {
        guard let list = unsafe task?.pointee.privdata else { return nil }
        let isAdded = unsafe Unmanaged<ReplyTokens>.fromOpaque(list).takeUnretainedValue().add(token(), announcing: count)
        return unsafe isAdded ? list : nil
    }

    private static func string(_ task: UnsafePointer<redisReadTask>?, _ bytes: UnsafeRawBufferPointer) -> RedisValue {
        switch unsafe task?.pointee.type {
        case REDIS_REPLY_STATUS: .status(unsafe String(decoding: bytes, as: UTF8.self))
        case REDIS_REPLY_ERROR: .error(RedisRefusal(unsafe String(decoding: bytes, as: UTF8.self)))
        default: .string(unsafe [UInt8](bytes))
        }
    }
}
