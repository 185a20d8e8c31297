import Foundation
import Testing

/// What a gateway's `/metrics` told at one moment.
struct Metrics {
    private let samples: [(name: String, labels: String, value: Double)]

    init(_ text: String) {
        samples = text.matches(of: /(?m)^([a-z_]+)(?:\{(.*)\})? (\S+)$/).compactMap { match in
            Double(match.output.3).map { (String(match.output.1), String(match.output.2 ?? ""), $0) }
        }
    }

    /// The sum over all series of a metric whose labels hold every one of `labels`, such as `loop="control"`.
    func sum(_ name: String, _ labels: String...) -> Double {
        samples.filter { sample in sample.name == name && labels.allSatisfy { sample.labels.contains($0) } }
            .reduce(0) { $0 + $1.value }
    }

    /// How many series a metric has whose labels hold `part`.
    func count(_ name: String, of part: String) -> Int { samples.count { $0.name == name && $0.labels.contains(part) } }

    /// Observations of a histogram above one of its bounds.
    func count(_ name: String, above bound: String, _ labels: String...) -> Double {
        let chosen = samples.filter { sample in labels.allSatisfy { sample.labels.contains($0) } }
        let all = chosen.filter { $0.name == "\(name)_count" }
        let below = chosen.filter { $0.name == "\(name)_bucket" && $0.labels.contains("le=\"\(bound)\"") }
        return all.reduce(0) { $0 + $1.value } - below.reduce(0) { $0 + $1.value }
    }
}

extension Gateway {
    func metrics() throws -> Metrics { Metrics(try admin("metrics")) }
}
