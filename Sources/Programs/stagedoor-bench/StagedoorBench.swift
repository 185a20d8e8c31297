import ArgumentParser
import Foundation

/// Synthetic publishers, viewers and receivers: the load for figures, and the senders of odd input for
/// tests. Prints one JSON object.
@main
struct StagedoorBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stagedoor-bench",
        abstract: "Publishes many streams from one file, watches them, receives RTP as a router would, and prints what it cost.",
        subcommands: [
            PublishRTMP.self, PublishWHIP.self, WatchWHEP.self, Receive.self, Connect.self, Tokens.self, RouterCheck.self,
            Relay.self, Floor.self, MeasureContract.self, Steps.self, ReportTable.self,
        ])
}

extension ParsableCommand {
    /// Prints a report as one line of JSON with sorted keys.
    func print(report: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        Swift.print(String(decoding: try encoder.encode(report), as: UTF8.self))
    }
}
