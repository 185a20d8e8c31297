import ArgumentParser
import EventLoop
import Foundation
import SRTP
import Wire

/// `stagedoor-bench steps`: what each step of the media's way costs on its own, for
/// `scripts/bench-steps` to compare with thresholds.
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
            ("forwarding", { try ForwardingStep() }),
            ("forwardingLayers", { try ForwardingStep(layerCount: 3, to: .everyLayer) }),
            ("forwardingBest", { try ForwardingStep(layerCount: 3) }), ("replica", ReplicaStep.init),
            ("recording", RecordingStep.init), ("joining", JoinStep.init),
            ("unwatched", { try ViewerStep(isWatched: false) }), ("watched", { try ViewerStep(isWatched: true) }),
            ("offers", OfferStep.init), ("tokens", TokenStep.init),
        ]
        let chosen = all.filter { step == nil || $0.name == step }
        guard !chosen.isEmpty else { throw ValidationError("there are \(all.map(\.name).joined(separator: ", "))") }
        var reports: [String: Report] = [:]
        for (name, make) in chosen { reports[name] = try measure(make()) }
        try print(report: reports)
    }

    private func measure(_ step: any MediaStep) throws -> Report {
        for _ in 0..<5 { try round(of: step) }
        let counter = AllocationCount()
        var (time, mallocs) = (Duration.zero, 0)
        for _ in 0..<rounds {
            let (start, count) = (EventLoop.threadCPU(), counter?.current ?? 0)
            try step.counted()
            time += EventLoop.threadCPU() - start
            mallocs += (counter?.current ?? 0) - count
            step.rest()
        }
        let operations = Double(step.operations * rounds)
        return Report(
            operations: step.operations, nanoseconds: Double(time.nanoseconds) / operations,
            mallocs: counter.map { _ in Double(mallocs) / operations })
    }

    private func round(of step: any MediaStep) throws {
        try step.round()
        step.rest()
    }
}

/// One step of the media's way, with its input made beforehand.
protocol MediaStep: AnyObject {
    /// Packets, messages or descriptions in one round.
    var operations: Int { get }
    func round() throws
    /// What happens between rounds, and is not counted.
    func rest()
}

extension MediaStep {
    func rest() {}

    /// A round that callgrind counts: it is told to look at nothing else (`--toggle-collect`).
    @inline(never) fileprivate func counted() throws { try round() }
}
