import CCurl
public import EventLoop

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
