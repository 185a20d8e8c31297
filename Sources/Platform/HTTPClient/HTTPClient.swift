import CCurl
public import EventLoop
public import Wire

/// Outbound HTTP on a loop, by libcurl's multi interface: webhooks, announces, Janus, hooks, other nodes (docs/design.md 3).
///
/// Verified TLS, deadlines, capped answers, no redirects, no proxies from the environment. Confined to its loop.
///
///     let request = HTTPClientRequest(method: "GET", url: "https://router.example/v1/announce")
///     client.send(request) { result in
///         guard case .success(let response) = result, response.status == 200 else { return retry() }
///         use(response.body)
///     }
@safe
public final class HTTPClient {
    /// Requests under way at once where nothing else is said; a further one is answered `.overloaded`.
    public static let maximumRequests = 512
    /// Connections kept open for reuse.
    private static let maximumIdleConnections = 64

    private let loop: EventLoop
    private let capacity: Int
    private let multi: OpaquePointerBox
    private var watches: [curl_socket_t: [DescriptorWatch]] = [:]
    private var timer: TimerWatch?
    private var transfers: [ObjectIdentifier: HTTPTransfer] = [:]
    /// Watches that libcurl gave up while one of them was being served.
    private var retired: [DescriptorWatch] = []

    /// A client without connections; they are made as they are needed and kept for reuse.
    /// - Parameter capacity: how many requests may be under way at once.
    public init(loop: EventLoop, capacity: Int = HTTPClient.maximumRequests) {
        _ = Self.isLibraryReady
        self.loop = loop
        self.capacity = capacity
        unsafe multi = OpaquePointerBox(curl_multi_init())
        let own = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe ccurl_multi_set_pointer(multi.pointer, CURLMOPT_SOCKETDATA, own)
        unsafe ccurl_multi_set_pointer(multi.pointer, CURLMOPT_TIMERDATA, own)
        unsafe ccurl_multi_set_long(multi.pointer, CURLMOPT_MAXCONNECTS, Self.maximumIdleConnections)
        unsafe ccurl_multi_set_socket(multi.pointer) { _, socket, what, client, _ in
            guard let client = unsafe client else { return -1 }
            unsafe Unmanaged<HTTPClient>.fromOpaque(client).takeUnretainedValue().watch(socket, what)
            return 0
        }
        unsafe ccurl_multi_set_timer(multi.pointer) { _, milliseconds, client in
            guard let client = unsafe client else { return -1 }
            unsafe Unmanaged<HTTPClient>.fromOpaque(client).takeUnretainedValue().arm(milliseconds)
            return 0
        }
    }

    deinit {
        // What is removed moves libcurl's deadline, of which it would call us: nobody may refer to us any more.
        unsafe ccurl_multi_set_socket(multi.pointer, nil)
        unsafe ccurl_multi_set_timer(multi.pointer, nil)
        for transfer in transfers.values { unsafe curl_multi_remove_handle(multi.pointer, transfer.easy) }
        watches.removeAll()
        unsafe curl_multi_cleanup(multi.pointer)
    }

    /// Requests under way.
    public var requestCount: Int { transfers.count }

    /// Whether a further request may go out now.
    public var hasRoom: Bool { transfers.count < capacity }

    /// Sends a request and calls `reply` exactly once, later, on this loop.
    public func send(
        _ request: HTTPClientRequest, reply: @escaping (Result<HTTPClientResponse, HTTPClientError>) -> Void
    ) {
        loop.assertOnLoop()
        guard hasRoom else { return fail(.overloaded, reply) }
        do throws(HTTPClientError) {
            let transfer = try HTTPTransfer(request, reply: reply)
            transfers[ObjectIdentifier(transfer)] = transfer
            unsafe curl_multi_add_handle(multi.pointer, transfer.easy)
        } catch {
            fail(error, reply)
        }
    }

    /// Failures found at once are reported later too: `reply` is never called inside `send`.
    private func fail(_ error: HTTPClientError, _ reply: @escaping (Result<HTTPClientResponse, HTTPClientError>) -> Void) {
        var pending: Watch?
        pending = loop.schedule(after: .zero) {
            reply(.failure(error))
            pending = nil
        }
        _ = pending
    }

    private static let isLibraryReady: Bool = {
        curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()
}

// MARK: - What libcurl asks of the loop

extension HTTPClient {
    private func watch(_ socket: curl_socket_t, _ what: CInt) {
        let wanted: [Readiness] =
            switch what {
            case CURL_POLL_IN: [.read]
            case CURL_POLL_OUT: [.write]
            case CURL_POLL_INOUT: [.read, .write]
            default: []
            }
        for watch in watches.removeValue(forKey: socket) ?? [] {
            watch.cancel()
            retired.append(watch)
        }
        guard !wanted.isEmpty else { return }
        watches[socket] = wanted.map { readiness in
            loop.watch(descriptor: socket, for: readiness) { [unowned self] in
                act(on: socket, readiness == .read ? CURL_CSELECT_IN : CURL_CSELECT_OUT)
            }
        }
    }

    private func arm(_ milliseconds: Int) {
        timer?.cancel()
        guard milliseconds >= 0 else { return timer = nil }
        timer = loop.schedule(after: .milliseconds(milliseconds)) { [unowned self] in act(on: CURL_SOCKET_TIMEOUT, 0) }
    }

    private func act(on socket: curl_socket_t, _ events: CInt) {
        var running: CInt = 0
        unsafe curl_multi_socket_action(multi.pointer, socket, events, &running)
        retired.removeAll()
        finishTransfers()
    }

    private func finishTransfers() {
        var left: CInt = 0
        while let message = unsafe curl_multi_info_read(multi.pointer, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle else { continue }
            let result = unsafe ccurl_result(message)
            guard let transfer = transfers.values.first(where: { unsafe $0.easy == easy }) else { continue }
            transfers[ObjectIdentifier(transfer)] = nil
            unsafe curl_multi_remove_handle(multi.pointer, easy)
            transfer.finish(result)
        }
    }
}

/// libcurl's multi handle, which C declares as a pointer to nothing.
@safe
final class OpaquePointerBox {
    let pointer: UnsafeMutableRawPointer?
    init(_ pointer: UnsafeMutableRawPointer?) { unsafe self.pointer = pointer }
}

/// One outbound request. URLs come from configuration only; nothing that a peer names is ever fetched.
public struct HTTPClientRequest: Sendable {
    /// `GET`, `POST`, …, in capitals.
    public var method: String
    /// `http://` or `https://`; other schemes are refused.
    public var url: String
    /// Sent in this order, beside those that the transfer itself needs.
    public var headers: [(name: String, value: String)]
    /// What is sent; empty for none.
    public var body: [UInt8]
    /// A file that is sent in the place of `body`, as long as it is now, without being read whole.
    public var bodyFile: HTTPBodyFile?
    /// From now to the last byte of the answer, resolving and TLS included.
    public var deadline = Duration.seconds(5)
    /// So many bytes a second have to come or be taken, and a connection to be there within that time; else the request fails
    /// before its deadline. Nil: all may be as slow as that allows.
    public var pace: (bytesPerSecond: Int, within: Duration)?
    /// A longer answer fails the request.
    public var maximumBodyLength = 256 * 1024
    /// Whom to trust and what to show, for `https`.
    public var tls = HTTPClientTLS()

    /// A request with the usual limits.
    public init(method: String, url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
    }
}

/// A file as the body of a request. Nobody may change it while it is sent.
public struct HTTPBodyFile: Sendable, Equatable {
    public var path: String
    public var length: Int

    public init(path: String, length: Int) { (self.path, self.length) = (path, length) }
}

/// Whom a client trusts and what it shows. Certificates are always verified; there is no way around it.
public struct HTTPClientTLS: Sendable, Equatable {
    /// PEM file of authorities; empty takes the system's.
    public var certificateAuthority = ""
    /// PEM file of our own certificate, for mutual TLS; empty shows none.
    public var certificate = ""
    /// PEM file of that certificate's key.
    public var privateKey = ""

    /// The system's authorities, and nothing shown.
    public init() {}
}

/// A whole answer. Redirects are answers too: they are never followed.
public struct HTTPClientResponse: Sendable {
    /// 200, 404, …; also of a redirect.
    public var status: Int
    /// Names in lower case, in the order of arrival.
    public var headers: [(name: String, value: String)] = []
    /// Decoded as far as chunks go; at most `maximumBodyLength`.
    public var body: [UInt8] = []
    /// From which it comes.
    public var address: IPAddress?
    /// Of ours, from which the connection was made; of a connection that is used again it may be unknown.
    public var ownAddress: IPAddress?

    /// The first field of that name, in whatever case.
    public subscript(name: String) -> String? { headers.first { $0.name == name.lowercased() }?.value }
}

/// Why no whole answer came.
public enum HTTPClientError: Error, Equatable, Sendable {
    /// The URL, or a certificate it needs, is not usable.
    case invalidRequest(String)
    /// The deadline passed.
    case timedOut
    /// The answer's body is longer than `maximumBodyLength`; the status came before it.
    case tooLong(status: Int)
    /// The peer's certificate is not trusted.
    case untrusted(String)
    /// Anything else, in libcurl's words: nobody listens, no such name, the connection broke.
    case failed(String)
    /// Beyond the client's capacity.
    case overloaded

    /// For the log.
    public var words: String {
        switch self {
        case .invalidRequest(let what): "the request cannot be sent: \(what)"
        case .timedOut: "no whole answer in time"
        case .tooLong: "the answer is too long"
        case .untrusted(let what): "its certificate is not trusted: \(what)"
        case .failed(let what): what
        case .overloaded: "too many requests at once"
        }
    }
}
