import Testing

@testable import Node

@Suite("What a process tells of those before it")
struct PredecessorTests {
    @Test(arguments: [(0, 1), (1, 2), (.max, 63), (.min, 1)] as [(Int, Int)])
    func `is a number of processes`(older: Int, count: Int) {
        #expect(Predecessor.count(withOlder: older) == count)
    }
}
