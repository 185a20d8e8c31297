import EventLoop
import Testing
import Wire

@Suite("ReplyBox")
struct ReplyBoxTests {
    enum Step: Equatable {
        case answer(Int)
        /// The other side lets go of its reply.
        case letGo
        case cancel
        case endBox
        /// The loop serves what is there.
        case turn
    }

    /// What becomes of one question.
    struct Course {
        var steps: [Step]
        var heard: [Int?]
        /// What each answer returned.
        var accepted: [Bool] = []

        init(_ steps: [Step], heard: [Int?], accepted: [Bool] = []) {
            (self.steps, self.heard, self.accepted) = (steps, heard, accepted)
        }
    }

    static let courses: [Course] = [
        Course([.answer(1), .turn], heard: [1], accepted: [true]),
        Course([.answer(1), .answer(2), .turn], heard: [1], accepted: [true, false]),
        Course([.answer(1), .turn, .answer(2), .turn], heard: [1], accepted: [true, false]),
        Course([.letGo, .turn], heard: [nil]),
        Course([.answer(1), .letGo, .turn], heard: [1], accepted: [true]),
        Course([.turn, .turn], heard: []),
        Course([.cancel, .answer(1), .turn], heard: [], accepted: [false]),
        Course([.cancel, .cancel, .letGo, .turn], heard: []),
        Course([.answer(1), .cancel, .turn], heard: [], accepted: [true]),
        Course([.answer(1), .turn, .cancel, .turn], heard: [1], accepted: [true]),
        Course([.endBox, .answer(1), .turn], heard: [], accepted: [false]),
        Course([.endBox, .letGo, .turn], heard: []),
        Course([.answer(1), .endBox, .turn], heard: [], accepted: [true]),
    ]

    @Test(.timeLimit(.minutes(10)), arguments: courses, [false, true])
    func `an answer is heard once, or nil, or nothing`(_ course: Course, fromAnotherThread: Bool) throws {
        let loop = try EventLoop()
        var box: ReplyBox? = try ReplyBox(loop: loop)
        var heard: [Int?] = []
        var accepted: [Bool] = []
        var reply: Reply<Int>?
        var witness: Witness? = Witness()
        weak let remaining = witness
        let question = box?.ask {
            reply = $0
        } then: { [witness] in
            #expect(witness != nil)
            heard.append($0)
        }
        witness = nil
        for step in course.steps {
            switch step {
            case .answer(let number):
                let answered = try #require(reply)
                accepted.append(fromAnotherThread ? try elsewhere { answered(number) } : answered(number))
            case .letGo: reply = nil
            case .cancel: if let question { box?.cancel(question) }
            case .endBox: box = nil
            case .turn: try serve(loop)
            }
        }
        #expect(heard == course.heard)
        #expect(accepted == course.accepted)
        let isUnderWay = !course.steps.contains { $0 != .turn }
        #expect((remaining != nil) == isUnderWay, "What waits is kept, what is over is let go of")
        withExtendedLifetime((box, reply)) {}
    }

    @Test func `who asks too much is told so and does not ask`() throws {
        let loop = try EventLoop()
        let box = try ReplyBox(loop: loop, maximumQuestions: 2)
        var replies: [Reply<Int>] = []
        var heard: [Int?] = []
        for _ in 0..<3 {
            box.ask {
                replies.append($0)
            } then: {
                heard.append($0)
            }
        }
        #expect(replies.count == 2)
        #expect(heard == [nil])
        replies[0](7)
        try serve(loop)
        #expect(heard == [nil, 7])
        #expect(
            box.ask {
                replies.append($0)
            } then: {
                heard.append($0)
            } != nil, "There is room again")
    }

    @Test func `an answer while asking is heard as soon as asking is over, later ones by the loop`() throws {
        let loop = try EventLoop()
        let box = try ReplyBox(loop: loop)
        var heard: [Int?] = []
        let question = box.ask { reply in
            #expect(reply(1) && !reply(2))
            #expect(heard.isEmpty, "Whoever asks is not disturbed while asking")
        } then: {
            heard.append($0)
        }
        #expect(question == nil)
        #expect(heard == [1])
        box.ask { (_: Reply<Int>) in
        } then: {
            heard.append($0)
        }
        #expect(heard == [1, nil], "Let go of at once")
    }

    @Test func `questions of several types wait in one box, and answers may come in any order`() throws {
        let loop = try EventLoop()
        let box = try ReplyBox(loop: loop)
        var (number, word): (Reply<Int?>?, Reply<String>?)
        var heard: [String] = []
        box.ask {
            number = $0
        } then: {
            heard.append("\(String(describing: $0))")
        }
        box.ask {
            word = $0
        } then: {
            heard.append($0 ?? "-")
        }
        word?("word")
        number?(nil)
        try serve(loop)
        #expect(heard == ["word", "Optional(nil)"], "An answer of nil is an answer")
    }

    @Test func `an answer that asks again, and one that ends the box`() throws {
        let loop = try EventLoop()
        var box: ReplyBox? = try ReplyBox(loop: loop)
        var replies: [Reply<Int>] = []
        var heard: [Int?] = []
        box?.ask {
            replies.append($0)
        } then: {
            heard.append($0);
            box?.ask {
                $0(2)
            } then: {
                heard.append($0)
            }
        }
        box?.ask {
            replies.append($0)
        } then: {
            heard.append($0); box = nil
        }
        box?.ask {
            replies.append($0)
        } then: {
            heard.append($0)
        }
        for (index, reply) in replies.enumerated() { #expect(reply(10 + index)) }
        try serve(loop)
        #expect(heard == [10, 2, 11])
        #expect(box == nil)
    }

    @Test(.timeLimit(.minutes(10)))
    func `answers of many threads are all heard`() throws {
        let loop = try EventLoop()
        let box = try ReplyBox(loop: loop, maximumQuestions: 8_000)
        var sum = 0
        var unanswered = 0
        let threads = try (0..<8).map { thread in
            var replies: [Reply<Int>] = []
            for _ in 0..<1_000 {
                box.ask {
                    replies.append($0)
                } then: { answer in
                    if let answer { sum += answer } else { unanswered += 1 }
                }
            }
            return try WorkerThread.start(name: "answers-\(thread)") { [replies] in
                for (index, reply) in replies.enumerated() where index % 10 != 0 { reply(1) }
            }
        }
        #expect(loop.run(until: { sum + unanswered == 8_000 }, within: .seconds(120)))
        #expect(unanswered == 800)
        threads.forEach { $0.join() }
    }

    private final class Witness {}

    /// Serves all that is there: what was ready when the first message was sent has been served when the second is received.
    private func serve(_ loop: EventLoop) throws {
        for _ in 0..<2 {
            var isReceived = false
            let fence = try Mailbox<Void>(loop: loop) { isReceived = true }
            fence.sender.send(())
            #expect(loop.run(until: { isReceived }, within: .seconds(120)))
        }
    }

    private func elsewhere(_ body: @escaping @Sendable () -> Bool) throws -> Bool {
        let result = Lock(false)
        try WorkerThread.start(name: "elsewhere") {
            let value = body()
            result.withLock { $0 = value }
        }.join()
        return result.withLock { $0 }
    }
}

@Suite("ReplyTable")
struct ReplyTableTests {
    @Test func `gives numbers until it is full, and none twice`() {
        var table = ReplyTable<String>(maximumCount: 2)
        let numbers = ["a", "b", "c"].map { table.insert($0) }
        #expect(numbers == [1, 2, nil])
        #expect(table.remove(1) == "a")
        #expect(table.remove(1) == nil)
        #expect(table.insert("d") == 3)
        #expect(table.count == 2)
        #expect(table.removeAll() == ["b", "d"])
        #expect(table.count == 0)
        #expect(table.insert("e") == 4)
    }
}
