import Foundation
import Testing

/// `Clients/distant_path.py`: a long way to the gateway, by UDP and TCP, that delays, loses and cuts
/// as the test says while it runs.
///
/// For WHIP let the gateway advertise it (`advertisement`) and then say `lead(udpTo:)`; for RTMP and HTTP put `tcp` into the URL.
final class DistantPath {
    /// Datagrams, each way: what passed, what chance dropped, and what came while the way was cut.
    struct Counts: Decodable {
        struct Direction: Decodable {
            var passed, dropped, cut: Int
        }
        var up, down: Direction
    }

    /// Where clients send to on 127.0.0.1.
    let udp, tcp: UInt16

    private let run: ProgramRun
    private let commands: FileHandle
    private var answerCount = 1

    /// - Parameters:
    ///   - delay: one way.
    ///   - loss: of datagrams, percent.
    ///   - seed: what chance drops follows from it.
    init(tcpTo port: UInt16? = nil, delay: Duration = .zero, loss: Double = 0, seed: Int = 1) throws {
        let pipe = Pipe()
        commands = pipe.fileHandleForWriting
        let target = port.map { ["--tcp", "\($0)"] } ?? []
        run = try ProgramRun(
            [
                Workspace.package.appending(path: ".deps/venv/bin/python").path,
                Workspace.package.appending(path: "Tests/Interop/Clients/distant_path.py").path,
                "--delay", "\(delay / .milliseconds(1))", "--loss", "\(loss)", "--seed", "\(seed)",
            ] + target, readingFrom: pipe.fileHandleForReading.fileDescriptor)
        let ports = try JSONDecoder().decode([String: UInt16].self, from: Self.line(0, of: run))
        (udp, tcp) = (try #require(ports["udp"]), try #require(ports["tcp"]))
    }

    /// A line of the gateway's configuration: WHIP's clients are told to come this way.
    var advertisement: String { "advertise: {addresses: [127.0.0.1], mediaPort: \(udp)}" }

    func lead(udpTo port: UInt16) throws { try tell("to udp \(port)") }
    func lead(tcpTo port: UInt16) throws { try tell("to tcp \(port)") }

    /// One of the program's commands, such as `loss 5 up`, `cut` or `heal`; it is in force when this returns.
    @discardableResult
    func tell(_ command: String) throws -> Counts {
        try commands.write(contentsOf: Data((command + "\n").utf8))
        defer { answerCount += 1 }
        return try JSONDecoder().decode(Counts.self, from: Self.line(answerCount, of: run))
    }

    var counts: Counts { get throws { try tell("counts") } }

    private static func line(_ index: Int, of run: ProgramRun) throws -> Data {
        func lines() -> [Substring] { run.output.split(separator: "\n", omittingEmptySubsequences: false) }
        // The last piece is a line that is still being written.
        expect("an answer of the path", within: .seconds(60)) { lines().count > index + 1 || !run.isRunning }
        let all = lines()
        return Data(try #require(all.indices.contains(index) ? all[index] : nil, "\(run.output)").utf8)
    }
}
