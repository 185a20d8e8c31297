import EventLoop
import Foundation
import HTTPClient

/// The HTTP half of publishers and viewers: POST of an offer, DELETE of what came of it (RFC 9725 §4.2).
final class WHIPEndpointClient {
    enum Fault: Error, CustomStringConvertible {
        /// The problem document's words, and seconds of Retry-After.
        case refused(status: Int, detail: String, retryAfter: String?)
        case unusableAnswer, failed(HTTPClientError)

        var description: String {
            switch self {
            case .refused(let status, let detail, nil): "the server answered \(status): \(detail)"
            case .refused(let status, let detail, let seconds?):
                "the server answered \(status), Retry-After \(seconds): \(detail)"
            case .unusableAnswer: "the 201 lacks a location, or its answer a candidate, credentials or a fingerprint"
            case .failed(.failed(let reason)): reason
            case .failed(let error): "\(error)"
            }
        }
    }

    struct Resource {
        var url: String
        var server: WHIPServerDescription
    }

    private let http: HTTPClient
    private let endpoint: URL
    private let certificateAuthority: String

    init(loop: EventLoop, endpoint: URL, certificateAuthority: String?) {
        (http, self.endpoint) = (HTTPClient(loop: loop), endpoint)
        self.certificateAuthority = certificateAuthority ?? ""
    }

    func post(_ offer: String, token: String, reply: @escaping (Result<Resource, Fault>) -> Void) {
        var request = request("POST", endpoint.absoluteString, token: token)
        request.headers.append(("Content-Type", "application/sdp"))
        request.body = Array(offer.utf8)
        http.send(request) { [endpoint] result in
            let response: HTTPClientResponse
            switch result {
            case .success(let answer): response = answer
            case .failure(let error): return reply(.failure(.failed(error)))
            }
            guard response.status == 201 else { return reply(.failure(Self.refusal(response))) }
            guard let location = response["location"], let url = URL(string: location, relativeTo: endpoint),
                let server = WHIPServerDescription(parsing: response.body)
            else { return reply(.failure(.unusableAnswer)) }
            reply(.success(Resource(url: url.absoluteString, server: server)))
        }
    }

    private static func refusal(_ response: HTTPClientResponse) -> Fault {
        let problem = try? JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any]
        return .refused(
            status: response.status, detail: problem?["detail"] as? String ?? "no words", retryAfter: response["retry-after"])
    }

    func delete(_ resource: Resource, token: String, reply: @escaping (Result<Void, Fault>) -> Void) {
        http.send(request("DELETE", resource.url, token: token)) { result in
            switch result {
            case .success(let answer):
                reply((200...204).contains(answer.status) ? .success(()) : .failure(Self.refusal(answer)))
            case .failure(let error): reply(.failure(.failed(error)))
            }
        }
    }

    private func request(_ method: String, _ url: String, token: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(method: method, url: url, headers: [("Authorization", "Bearer \(token)")])
        request.tls.certificateAuthority = certificateAuthority
        return request
    }
}
