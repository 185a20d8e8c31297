import EventLoop
import Glibc
import Testing

@testable import Node

/// Serialized: one loop of a process alone hears of its children.
@Suite("The program that is to take this one's place", .serialized)
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

    private static let ends: [(String, SuccessorProcess.Failure?)] = [
        ("exit 3", .status(3)), ("kill -9 $$", .signal(9)), ("exit 0", nil),
    ]

    @Test(.timeLimit(.minutes(10)), arguments: ends)
    func `is told of where it does not end well`(script: String, failure: SuccessorProcess.Failure?) throws {
        let loop = try EventLoop()
        var told: [SuccessorProcess.Failure] = []
        let successor = SuccessorProcess(loop: loop, arguments: ["sh", "-c", script]) { told.append($1) }
        let process = try successor.start()
        #expect(loop.run(until: { kill(process, 0) < 0 }, within: .seconds(60)))
        #expect(told == (failure.map { [$0] } ?? []))
        withExtendedLifetime(successor) {}
    }

    /// As libraries open them that do not think of other programs: libcurl's connections.
    @Test(.timeLimit(.minutes(10)))
    func `has no descriptor of this one's that is not closed by itself`() throws {
        let descriptor = open("/dev/null", O_RDONLY)
        try #require(descriptor > STDERR_FILENO)
        defer { close(descriptor) }
        let loop = try EventLoop()
        let successor = SuccessorProcess(
            loop: loop, arguments: ["sh", "-c", "test -e /proc/self/fd/1 && test ! -e /proc/self/fd/\(descriptor)"])
        let process = try successor.start()
        var status: CInt = -1
        let ended = waitpid(process, &status, 0)
        #expect(ended == process && status == 0)
        withExtendedLifetime(successor) {}
    }
}
