public import StageMetrics

extension MetricSample {
    /// Samples that one write of the history carries, at most: a message to another process holds them.
    static let maximumInWrite = 64

    /// As the writes that keep them: each is of one stage.
    public static func writes(_ samples: [MetricSample]) -> [HistoryWrite] {
        Dictionary(grouping: samples, by: \.series.stageID).sorted { $0.key < $1.key }.flatMap { _, samples in
            stride(from: 0, to: samples.count, by: maximumInWrite).map {
                HistoryWrite.metrics(Array(samples[$0..<min(samples.count, $0 + maximumInWrite)]))
            }
        }
    }
}
