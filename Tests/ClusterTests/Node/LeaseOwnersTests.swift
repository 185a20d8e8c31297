import Testing
import Wire

@testable import Cluster

@Suite("Owners of leases that somebody waits for")
struct LeaseOwnersTests {
    private static let remote = RemoteLease(
        node: "b", LeaseIdentity(LeaseKey(stageID: "one", participantID: "p"), generation: 9))

    private var owners = LeaseOwners(askedBy: NodeSettings(nodeID: "a"))

    private func moment(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

    @Test mutating func `a question without an answer is taken once it has waited long enough`() {
        let first = owners.ask(Self.remote, for: .claim(1), moment(0))
        let second = owners.ask(Self.remote, for: .claim(2), moment(100))
        #expect(first.node == "a" && first.lease == Self.remote.lease && first.number < second.number)
        #expect(owners.deadline == moment(500))
        let (early, due) = (owners.takeUnanswered(moment(499)), owners.takeUnanswered(moment(500)))
        #expect(early.isEmpty && due.map { $0.number } == [first.number] && due.map { $0.asker } == [.claim(1)])
        let (answered, late) = (owners.takeQuestion(second.number), owners.takeQuestion(first.number))
        #expect(answered?.asker == .claim(2) && late?.asker == nil && owners.deadline == nil)
    }

    @Test mutating func `a watched lease is asked for four times a second, for half a minute`() {
        let watch = owners.watch(Self.remote, moment(0))
        #expect(owners.deadline == moment(250))
        let (early, first) = (owners.askForWatches(moment(249)), owners.askForWatches(moment(250)))
        let question = NodeMessage.Question(number: watch + 1, node: "a", lease: Self.remote.lease)
        #expect(early.isEmpty && first == [.send(.ask(question), to: "b")])
        let questions = (2..<120 as Range<Int64>).map { owners.askForWatches(moment($0 * 250)).count }
        #expect(questions.allSatisfy { $0 == 1 })
        let over = owners.askForWatches(moment(30_000))
        let word = owners.answered(.gone, ofWatch: watch, askedAt: moment(29_900), moment(30_000))
        #expect(over.isEmpty && word.isEmpty)
    }

    @Test mutating func `of more nodes than there can be the last that answered are remembered`() {
        for number in 0...LeaseOwners.maximumPresent { owners.noteAnswer(of: "\(number)", moment(1_000)) }
        #expect(!owners.hasJustAnswered("0", moment(1_000)))
        #expect(owners.hasJustAnswered("\(LeaseOwners.maximumPresent)", moment(1_000)))
    }

    @Test mutating func `what its owner says of a watched lease shows that the owner is there`() {
        let watch = owners.watch(Self.remote, moment(0))
        let live = owners.answered(.live(age: .milliseconds(40)), ofWatch: watch, askedAt: moment(300), moment(310))
        #expect(live == [.progressed(watch: watch, moment(260))])
        #expect(owners.hasJustAnswered("b", moment(1_059)) && !owners.hasJustAnswered("b", moment(1_060)))
        #expect(!owners.hasJustAnswered("c", moment(310)))
        let gone = owners.answered(.gone, ofWatch: watch, askedAt: moment(300), moment(310))
        #expect(gone == [.gone(watch: watch)])
        owners.endWatch(watch)
        let ended = owners.answered(.gone, ofWatch: watch, askedAt: moment(300), moment(310))
        #expect(ended.isEmpty)
    }
}
