/// Gathers the answers of several commands, in the order of the commands.
final class AnswerCollector {
    private var answers: [RedisReply?]
    private var missing: Int
    private let replies: ([RedisReply]) -> Void

    init(count: Int, _ replies: @escaping ([RedisReply]) -> Void) {
        (answers, missing, self.replies) = ([RedisReply?](repeating: nil, count: count), count, replies)
    }

    func add(_ answer: RedisReply, at index: Int) {
        answers[index] = answer
        missing -= 1
        if missing == 0 { replies(answers.compactMap(\.self)) }
    }
}
