import HTTP
import JSON

/// An error of the API: the modelled shape's name, its status, and a sentence.
struct APIError: Error, Equatable {
    var type: String
    var status: HTTPStatus
    var message: String

    static func validation(_ message: String) -> APIError { APIError(type: "ValidationException", status: 400, message: message) }
    static func notFound(_ message: String) -> APIError {
        APIError(type: "ResourceNotFoundException", status: 404, message: message)
    }
    static func conflict(_ message: String) -> APIError { APIError(type: "ConflictException", status: 409, message: message) }
    static func quota(_ message: String) -> APIError {
        APIError(type: "ServiceQuotaExceededException", status: 402, message: message)
    }
    static func accessDenied(_ message: String) -> APIError {
        APIError(type: "AccessDeniedException", status: 403, message: message)
    }
    static let throttled = APIError(
        type: "ThrottlingException", status: 429, message: "Rate exceeded: send fewer of these requests a second.")
    static let internalError = APIError(type: "InternalServerException", status: 500, message: "The gateway failed: try again.")

    var response: HTTPResponse {
        HTTPResponse(status, json: ["exceptionMessage": .string(message)], headers: ["x-amzn-ErrorType": type])
    }
}
