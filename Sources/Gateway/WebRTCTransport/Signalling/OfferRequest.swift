public import HTTP
public import Refusals
public import SDP
public import Wire

/// A POST with an SDP offer, as WHIP and WHEP take it (RFC 9725 §4.2).
public struct OfferRequest: Sendable {
    /// The bearer token; nobody has looked at it yet.
    public let token: Secret
    /// The offer as sent, at most `SessionDescription.maximumByteCount`.
    public let body: [UInt8]
    /// Who sent it.
    public let source: SocketAddress
    /// What stands before the path of the session that it makes.
    public let pathPrefix: String

    /// - Throws: what a request is refused for before anybody looks at its token and offer.
    public init(_ request: HTTPRequest, _ rates: inout RequestRates, now: MonotonicTime) throws(Refusal) {
        guard rates.allows(request.source.ip, now: now) else { throw Refusal(.tooManyRequests) }
        guard request.contentType?.matches("application/sdp") == true else { throw Refusal(.unsupportedContentType) }
        guard request.body.count <= SessionDescription.maximumByteCount else { throw Refusal(.bodyTooLarge) }
        guard let token = request.presentedToken else { throw request.refusalWithoutToken }
        (self.token, body, source, pathPrefix) = (token, request.body, request.source, request.pathPrefix)
    }

    /// The offer, whose lines end as the RFC wants it.
    public func description() throws(Refusal) -> SessionDescription {
        do throws(SDPError) {
            return try SessionDescription(parsing: body, endings: .crlf)
        } catch { throw malformed("The SDP offer is malformed: \(error).") }
    }

    /// The answer to a request that is no such POST.
    public static func response(_ refusal: Refusal) -> HTTPResponse {
        refusal.response(headers: refusal.code == .unsupportedContentType ? ["Accept-Post": "application/sdp"] : [:])
    }
}
