import HTTP
import JSON
import Store

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
    /// Not in the API's model, whose clients try again after any 503.
    static let unavailable = APIError(
        type: "ServiceUnavailableException", status: 503,
        message: "The cluster's store cannot be reached: live streams go on, try again.")
    /// A member that is not as the model has it: what it must be.
    static func malformed(_ member: String, _ form: String) -> APIError { validation("\(member) must be \(form).") }
    static let foreignPage = malformed("nextToken", TextRule.pageToken.form)
    static func tooManyTags(_ maximum: Int) -> APIError { validation("There may be at most \(maximum) tags.") }
    static let noStage = notFound("There is no such stage.")
    static let noIngestConfiguration = notFound("There is no such ingest configuration.")
    static let noStorageConfiguration = notFound("There is no such storage configuration.")
    static let noPublicKey = notFound("There is no such public key.")
    static let noResource = notFound("There is no such resource.")
    static let internalError = APIError(type: "InternalServerException", status: 500, message: "The gateway failed: try again.")

    init(type: String, status: HTTPStatus, message: String) { (self.type, self.status, self.message) = (type, status, message) }

    /// What a transaction or the store threw.
    init(_ error: any Error) {
        self = error as? APIError ?? ((error as? StoreError) == .away ? .unavailable : .internalError)
    }

    /// The model calls the sentence `exceptionMessage`; what the AWS CLI and most SDKs show is
    /// `message`, whatever the model says.
    var response: HTTPResponse {
        var headers = APIHeaders.ofOneAnswer()
        headers["x-amzn-ErrorType"] = type
        return HTTPResponse(
            status, json: ["exceptionMessage": .string(message), "message": .string(message)], headers: headers)
    }
}

/// The seven header fields that the model gives to every answer, with IVS' values, and the id that AWS gives to each.
///
/// Whom `Access-Control-Allow-Origin` invites to read is refused all the same: pages of other origins by `AdminAccess`.
enum APIHeaders {
    /// With an id of its own, which SDKs show with an error, and which scripts expect in every answer.
    static func ofOneAnswer() -> HTTPHeaders {
        var headers = modelled
        headers["x-amzn-RequestId"] = Identifier.uuid()
        return headers
    }

    private static let modelled: HTTPHeaders = [
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Expose-Headers": "Access-Control-Allow-Origin,Access-Control-Expose-Headers,Cache-Control,Content-Length,"
            + "Content-Security-Policy,Content-Type,date,Strict-Transport-Security,x-amz-apigw-id,x-amzn-errormessage,"
            + "x-amzn-errortype,x-amzn-requestid,x-amzn-trace-id,X-Content-Type-Options,X-Frame-Options",
        "Cache-Control": "no-store, no-cache",
        "Content-Security-Policy": "default-src 'self'; upgrade-insecure-requests;",
        "Strict-Transport-Security": "max-age:47304000; includeSubDomains", "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    ]
}
