import CCurl
import Glibc
import Wire

/// One request under way: owns its easy handle, its header list and the bytes it sends and gets.
@safe
final class HTTPTransfer {
    let easy: UnsafeMutableRawPointer
    private let request: HTTPClientRequest
    private let reply: (Result<HTTPClientResponse, HTTPClientError>) -> Void
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var body: UnsafeMutableBufferPointer<CChar>
    private var file: UnsafeMutablePointer<FILE>?
    private var response = HTTPClientResponse(status: 0)
    private var isTooLong = false

    private static let maximumHeaderCount = 200

    init(
        _ request: HTTPClientRequest, reply: @escaping (Result<HTTPClientResponse, HTTPClientError>) -> Void
    ) throws(HTTPClientError) {
        guard let easy = unsafe curl_easy_init() else { throw .failed("curl_easy_init") }
        unsafe self.easy = easy
        (self.request, self.reply) = (request, reply)
        unsafe body = .allocate(capacity: max(1, request.body.count))
        unsafe body.initialize(repeating: 0)
        unsafe UnsafeMutableRawBufferPointer(body).copyBytes(from: request.body)
        setTarget()
        setPace()
        try setBody()
        setTLS()
        setCallbacks()
    }

    deinit {
        unsafe curl_slist_free_all(headerList)
        unsafe curl_easy_cleanup(easy)
        unsafe body.deallocate()
        if let file = unsafe file { unsafe fclose(file) }
    }

    private func setTarget() {
        unsafe ccurl_set_string(easy, CURLOPT_URL, request.url)
        // A path is asked for as it was judged: libcurl would resolve `..` in it.
        unsafe ccurl_set_long(easy, CURLOPT_PATH_AS_IS, 1)
        unsafe ccurl_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        unsafe ccurl_set_string(easy, CURLOPT_CUSTOMREQUEST, request.method)
        unsafe ccurl_set_string(easy, CURLOPT_PROXY, "")
        unsafe ccurl_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        unsafe ccurl_set_long(easy, CURLOPT_NOSIGNAL, 1)
        unsafe ccurl_set_long(easy, CURLOPT_TIMEOUT_MS, Int(max(1, request.deadline.milliseconds)))
        // A name server that is silent keeps the thread that asks it for half a minute: at the deadline libcurl lets that go, and
        // does not have the loop wait for its end.
        unsafe ccurl_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        if request.method == "HEAD" { unsafe ccurl_set_long(easy, CURLOPT_NOBODY, 1) }
        // No waiting for 100-continue: whoever takes our bodies has answered before.
        for header in ["Expect:"] + request.headers.map({ "\($0.name): \($0.value)" }) {
            unsafe headerList = curl_slist_append(headerList, header)
        }
        unsafe ccurl_set_list(easy, CURLOPT_HTTPHEADER, headerList)
    }

    private func setPace() {
        guard let pace = request.pace else { return }
        let milliseconds = max(1_000, pace.within.milliseconds)
        unsafe ccurl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(milliseconds))
        // libcurl counts them in whole seconds.
        unsafe ccurl_set_long(easy, CURLOPT_LOW_SPEED_TIME, Int(milliseconds / 1_000))
        unsafe ccurl_set_long(easy, CURLOPT_LOW_SPEED_LIMIT, pace.bytesPerSecond)
    }

    /// libcurl reads a file by itself, and from its beginning again where a connection has to be made anew.
    private func setBody() throws(HTTPClientError) {
        if let source = request.bodyFile {
            unsafe file = fopen(source.path, "re")
            guard let file = unsafe file else {
                throw .failed("cannot read \(source.path): \(unsafe String(cString: strerror(errno)))")
            }
            unsafe ccurl_set_long(easy, CURLOPT_UPLOAD, 1)
            unsafe ccurl_set_offset(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(source.length))
            unsafe ccurl_set_pointer(easy, CURLOPT_READDATA, file)
        } else if !request.body.isEmpty || ["POST", "PUT", "PATCH"].contains(request.method) {
            unsafe ccurl_set_long(easy, CURLOPT_POSTFIELDSIZE, request.body.count)
            unsafe ccurl_set_pointer(easy, CURLOPT_POSTFIELDS, body.baseAddress)
        }
    }

    private func setTLS() {
        unsafe ccurl_set_long(easy, CURLOPT_SSL_VERIFYPEER, 1)
        unsafe ccurl_set_long(easy, CURLOPT_SSL_VERIFYHOST, 2)
        let tls = request.tls
        if !tls.certificateAuthority.isEmpty { trust(onlyAuthoritiesIn: tls.certificateAuthority) }
        if !tls.certificate.isEmpty { unsafe ccurl_set_string(easy, CURLOPT_SSLCERT, tls.certificate) }
        if !tls.privateKey.isEmpty { unsafe ccurl_set_string(easy, CURLOPT_SSLKEY, tls.privateKey) }
        // Without one OpenSSL would ask for an encrypted key's at the terminal, and the loop wait for whoever sits there.
        unsafe ccurl_set_string(easy, CURLOPT_KEYPASSWD, "")
    }

    /// Debian's libcurl would trust those in the system's folder as well. A file that is replaced counts from the next connection
    /// on: libcurl would keep what was in it for a day.
    private func trust(onlyAuthoritiesIn path: String) {
        unsafe ccurl_set_string(easy, CURLOPT_CAINFO, path)
        unsafe ccurl_set_string(easy, CURLOPT_CAPATH, nil)
        unsafe ccurl_set_long(easy, CURLOPT_CA_CACHE_TIMEOUT, 0)
    }

    private func setCallbacks() {
        let own = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe ccurl_set_pointer(easy, CURLOPT_WRITEDATA, own)
        unsafe ccurl_set_pointer(easy, CURLOPT_HEADERDATA, own)
        unsafe ccurl_set_write(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, transfer in
            guard let transfer = unsafe transfer else { return 0 }
            let part = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
            return unsafe Unmanaged<HTTPTransfer>.fromOpaque(transfer).takeUnretainedValue().receive(part)
        }
        unsafe ccurl_set_write(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, transfer in
            guard let transfer = unsafe transfer else { return 0 }
            let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
            return unsafe Unmanaged<HTTPTransfer>.fromOpaque(transfer).takeUnretainedValue().receive(header: line)
        }
    }

    /// Answers fewer bytes than given when the answer is too long, which ends the transfer.
    private func receive(_ part: UnsafeRawBufferPointer) -> Int {
        guard response.body.count + part.count <= request.maximumBodyLength else {
            isTooLong = true
            return 0
        }
        unsafe response.body.append(contentsOf: part)
        return part.count
    }

    /// A status line begins a new set: that of the final answer stays.
    private func receive(header line: UnsafeRawBufferPointer) -> Int {
        let text = unsafe String(decoding: line, as: UTF8.self)
        if text.hasPrefix("HTTP/") {
            response.headers = []
        } else if let colon = text.firstIndex(of: ":"), response.headers.count < Self.maximumHeaderCount {
            let value = text[text.index(after: colon)...].drop { $0 == " " }.prefix { $0 != "\r\n" && $0 != "\n" && $0 != "\r" }
            response.headers.append((text[..<colon].lowercased(), String(value)))
        }
        return line.count
    }

    func finish(_ result: CURLcode) {
        response.status = unsafe Int(ccurl_status(easy))
        response.address = IPAddress(unsafe String(cString: ccurl_address(easy)))
        response.ownAddress = IPAddress(unsafe String(cString: ccurl_own_address(easy)))
        if isTooLong { return reply(.failure(.tooLong(status: response.status))) }
        switch result {
        case CURLE_OK: reply(.success(response))
        case CURLE_OPERATION_TIMEDOUT: reply(.failure(.timedOut))
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR:
            reply(.failure(.untrusted(Self.words(result))))
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL, CURLE_SSL_CERTPROBLEM:
            reply(.failure(.invalidRequest(Self.words(result))))
        default: reply(.failure(.failed(Self.words(result))))
        }
    }

    private static func words(_ code: CURLcode) -> String { unsafe String(cString: curl_easy_strerror(code)) }
}
