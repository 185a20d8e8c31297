import ArgumentParser
import EventLoop
import Foundation
import SRTP
import Wire

/// `stagedoor-bench steps`: what each step of the media's way costs on its own, for `scripts/bench-steps` to compare with thresholds.
struct Steps: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "steps", abstract: "Measures each step of the media's way: nanoseconds, and mallocs where they are counted.")

    @Option(help: "One step only.")
    var step: String?
    @Option(help: "Rounds of a step; each is a second of one stream, or one description.")
    var rounds = 200

    struct Report: Encodable {
        /// Packets, messages or descriptions in a round.
        var operations = 0
        var nanoseconds = 0.0
        /// Of one operation after warming up; nil without the counter that `scripts/bench-steps` preloads.
        var mallocs: Double?
    }

    func run() throws {
        let all: [(name: String, make: () throws -> any MediaStep)] = [
            ("chunkStream", ChunkStreamStep.init), ("accessUnits", AccessUnitStep.init), ("rtpHeaders", HeaderStep.init),
            ("unprotectGCM", { try UnprotectStep(.aeadAES128GCM) }), ("unprotectAESCM", { try UnprotectStep(.aes128CMSHA1_80) }),
            ("forwarding", ForwardingStep.init), ("offers", OfferStep.init),
            ("tokens", TokenStep.init),
        ]
        let chosen = all.filter { step == nil || $0.name == step }
        guard !chosen.isEmpty else { throw ValidationError("there are \(all.map(\.name).joined(separator: ", "))") }
        var reports: [String: Report] = [:]
        for (name, make) in chosen { reports[name] = try measure(make()) }
        try print(report: reports)
    }

    private func measure(_ step: any MediaStep) throws -> Report {
        for _ in 0..<5 { try step.round() }
        let counter = AllocationCount()
        let (start, mallocs) = (EventLoop.threadCPU(), counter?.current ?? 0)
        for _ in 0..<rounds { try step.round() }
        let elapsed = EventLoop.threadCPU() - start
        let operations = Double(step.operations * rounds)
        return Report(
            operations: step.operations, nanoseconds: Double(elapsed.nanoseconds) / operations,
            mallocs: counter.map { Double($0.current - mallocs) / operations })
    }
}

/// One step of the media's way, with its input made beforehand.
protocol MediaStep: AnyObject {
    /// Packets, messages or descriptions in one round.
    var operations: Int { get }
    func round() throws
}
