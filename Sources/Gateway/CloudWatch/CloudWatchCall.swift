public import HTTP
public import StageMetrics
public import Wire

/// One request of CloudWatch's API, read: which operation, of whose metrics, and how to answer it.
///
///     let call = try CloudWatchCall(request)            // nil: not CloudWatch's
///     let response = call.response(call.answer(from: view, now: now), requestID: id)
public struct CloudWatchCall: Sendable {
    public enum Operation: String, Sendable, CaseIterable {
        case listMetrics = "ListMetrics"
        case getMetricData = "GetMetricData"
        case getMetricStatistics = "GetMetricStatistics"
    }

    public let operation: Operation
    private let format: CloudWatchProtocol
    private let input: CloudWatchValue

    /// The addresses at which the three protocols are spoken; all are POST.
    public static let paths = ["/", "\(CloudWatchProtocol.cborPath)*"]

    /// - Throws: what is to be answered to a request that is CloudWatch's and cannot be read.
    public init?(_ request: HTTPRequest) throws(CloudWatchError) {
        guard let (format, name) = CloudWatchProtocol.introduction(of: request) else { return nil }
        guard CloudWatchValue.text(name).isQuicklyCompared, let operation = Operation(rawValue: name) else {
            throw .unknownOperation
        }
        (self.format, self.operation, input) = (format, operation, try format.input(request))
        guard input.isQuicklyCompared else { throw .malformed }
    }

    /// Ids of the stages that it asks about; one of them is empty where it is about more than those.
    public var stageIDs: Set<String> {
        switch operation {
        case .listMetrics, .getMetricStatistics: [Self.stageID(of: input)]
        case .getMetricData:
            Set(
                (try? input.list("MetricDataQueries", atMost: .max))?.map { Self.stageID(of: $0["MetricStat"]?["Metric"]) } ?? [
                    ""
                ])
        }
    }

    private static func stageID(of metric: CloudWatchValue?) -> String {
        let dimensions = (try? metric?.list("Dimensions", atMost: .max)) ?? []
        guard case .text(let id)? = dimensions.first(where: { $0["Name"] == "Stage" })?["Value"] else { return "" }
        return id
    }

    /// What there is to say, or why nothing is. On the store's thread.
    public func answer(from metrics: any MetricReading, now: WallTime) -> Result<CloudWatchAnswer, CloudWatchError> {
        do {
            let output =
                switch operation {
                case .listMetrics: try ListMetrics(input).output(metrics, now: now)
                case .getMetricData: try GetMetricData(input).output(metrics, now: now)
                case .getMetricStatistics: try GetMetricStatistics(input).output(metrics, now: now)
                }
            return .success(CloudWatchAnswer(output: output))
        } catch {
            return .failure(error as? CloudWatchError ?? .internalFault)
        }
    }

    /// In the words of the protocol that was spoken.
    public func response(_ answer: Result<CloudWatchAnswer, CloudWatchError>, requestID: String) -> HTTPResponse {
        switch answer {
        case .success(let answer): format.response(answer.output, to: operation.rawValue, requestID: requestID)
        case .failure(let error): format.response(error, requestID: requestID)
        }
    }

    /// For a request that could not be read.
    public static func response(_ error: CloudWatchError, to request: HTTPRequest, requestID: String) -> HTTPResponse {
        (CloudWatchProtocol.introduction(of: request)?.0 ?? .query).response(error, requestID: requestID)
    }
}

/// The output of an operation, not yet in the words of a protocol.
public struct CloudWatchAnswer: Equatable, Sendable {
    let output: CloudWatchValue
}
