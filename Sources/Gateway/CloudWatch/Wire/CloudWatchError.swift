/// Why something is not answered, in CloudWatch's terms.
public struct CloudWatchError: Error, Equatable, Sendable {
    /// The shape's name, which typed protocols tell.
    public var type: String
    /// As `query` calls it, and what clients of any protocol show.
    public var code: String
    public var status: Int
    public var message: String

    public init(type: String, code: String? = nil, status: Int = 400, message: String) {
        (self.type, self.code, self.status, self.message) = (type, code ?? type, status, message)
    }

    static func invalid(_ message: String) -> CloudWatchError {
        CloudWatchError(type: "InvalidParameterValueException", code: "InvalidParameterValue", message: message)
    }

    static func wrongType(_ name: String) -> CloudWatchError { .invalid("The parameter \(name) is not of its type.") }

    static func missing(_ name: String) -> CloudWatchError {
        CloudWatchError(
            type: "MissingRequiredParameterException", code: "MissingParameter", message: "The parameter \(name) is required.")
    }

    static func combination(_ message: String) -> CloudWatchError {
        CloudWatchError(type: "InvalidParameterCombinationException", code: "InvalidParameterCombination", message: message)
    }

    /// What GetMetricData calls a wrong query.
    static func validation(_ message: String) -> CloudWatchError {
        CloudWatchError(type: "ValidationError", message: message)
    }

    static let nextToken = CloudWatchError(type: "InvalidNextToken", message: "The NextToken is none of this answer's.")
    static let malformed = CloudWatchError(type: "SerializationException", message: "The body cannot be read.")
    static let unknownOperation = CloudWatchError(
        type: "UnknownOperationException", code: "InvalidAction", status: 404,
        message: "Only ListMetrics, GetMetricData and GetMetricStatistics are served here.")
    public static let internalFault = CloudWatchError(
        type: "InternalServiceFault", code: "InternalServiceError", status: 500, message: "The gateway failed: try again.")
}
