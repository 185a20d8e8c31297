import EventLoop
import Glibc
import Testing

@testable import Node

@Suite("The program that is to take this one's place")
struct SuccessorProcessTests {
    /// A second one is started where the first has not asked for the place yet.
    @Test(.timeLimit(.minutes(10)))
    func `is forgotten by the kernel once it has ended, the first of two as well`() throws {
        let loop = try EventLoop()
        let successor = SuccessorProcess(loop: loop, arguments: ["true"])
        let processes = [try successor.start(), try successor.start()]
        #expect(loop.run(until: { processes.allSatisfy { kill($0, 0) < 0 } }, within: .seconds(60)))
        withExtendedLifetime(successor) {}
    }
}
