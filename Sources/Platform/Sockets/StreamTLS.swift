import EventLoop
import OpenSSL
import Wire

/// TLS on one stream: its handshake, step by step in its turn, and what was written before that was done.
///
/// It neither reads nor sends: the stream lends it what came in, and asks after every step what has to go out.
final class StreamTLS {
    /// Whether the handshake is done: plaintext comes in and goes out.
    private(set) var isEstablished = false
    private let connection: TLSConnection
    private let isServer: Bool
    /// Nil before it begins, and when it is done or given up.
    private var handshake: TLSHandshakeProgress?
    /// Plaintext that was written before the handshake was done.
    private var waiting: [UInt8] = []

    init(_ context: TLSContext, serverName: String?) throws(OpenSSLError) {
        isServer = context.isServer
        connection = try TLSConnection(context, serverName: serverName)
    }

    var applicationProtocol: String? { connection.applicationProtocol }
    /// Bytes that wait for the handshake.
    var waitingByteCount: Int { waiting.count }

    // MARK: - The handshake

    /// - Parameter timedOut: called when it is not done in its time.
    func beginHandshake(on loop: EventLoop, with remote: IPAddress, timedOut: @escaping () -> Void) {
        handshake = TLSHandshakeProgress(loop: loop, isServer: isServer, remote: remote, timedOut: timedOut)
    }

    /// Takes ciphertext that was read before TLS began; the next step works on it.
    func keepFirst(_ ciphertext: [UInt8]) { handshake?.firstBytes = ciphertext }

    /// Whether there is a step to be taken before anything is read: a client speaks first.
    var hasNextStep: Bool { !isServer || handshake?.firstBytes.isEmpty == false }

    /// Runs a step when it is this handshake's turn, never after its end.
    func performInTurn(_ step: @escaping () -> Void) { handshake?.perform(step) }

    /// What a step works on; nil where that is to be read.
    func takeFirst() -> [UInt8]? { handshake?.takeFirstBytes() }

    /// It is done, or given up.
    func endHandshake() {
        handshake?.cancel()
        handshake = nil
    }

    // MARK: - Bytes

    /// Lends ciphertext until `advance` has said `.needsMore`.
    func receive(_ ciphertext: UnsafeRawBufferPointer) { unsafe connection.receive(ciphertext) }

    /// One step of the handshake, or one record. When the handshake is done, `takeWaiting` has what is to be written first.
    func advance(into plaintext: UnsafeMutableRawBufferPointer) throws(OpenSSLError) -> TLSConnection.Event {
        let event = unsafe try connection.advance(into: plaintext)
        if case .handshakeCompleted = event {
            isEstablished = true
            endHandshake()
        }
        return event
    }

    /// Encrypts plaintext; before the handshake is done it waits.
    func write(_ plaintext: UnsafeRawBufferPointer) throws(OpenSSLError) {
        guard isEstablished else { return unsafe waiting.append(contentsOf: plaintext) }
        unsafe try connection.write(plaintext)
    }

    /// What was written before the handshake was done, which is then the caller's.
    func takeWaiting() -> [UInt8] {
        defer { waiting = [] }
        return waiting
    }

    /// Says that nothing more follows (close_notify), where the handshake was done.
    func close() { connection.close() }

    /// The ciphertext to be sent; nil when there is none.
    func takeOutgoing() -> [UInt8]? {
        guard connection.hasOutgoing else { return nil }
        handshake?.hasAnswered = true
        return connection.takeOutgoing()
    }
}
