public import EventLoop
public import OpenSSL
public import Wire

/// One TCP connection on a loop, plain or with TLS.
///
/// Every handler may close or drop the stream. `onClosed` is called once, never from inside a call of ours, and not after
/// `close()`. A stream that is dropped closes its connection.
///
///     let stream = TCPStream(loop: loop, accepted: connection)
///     stream.onBytes = { [unowned self] bytes in parser.consume(bytes) }  // returns how many it took
@safe
public final class TCPStream {
    /// What a parser may leave for later. Parsers of longer things keep them themselves.
    public static let maximumUnconsumedBytes = 65_536
    /// A peer that acknowledges nothing for that long is gone (TCP_USER_TIMEOUT).
    public static let userTimeout = Duration.seconds(20)

    /// Given what has arrived, in place; returns how many of the bytes it consumed. What it leaves comes again, together with
    /// what follows. As long as it consumes something and leaves something, it is called again at once: so it may take off a
    /// PROXY header, or look at the first byte, consume nothing, and call `startTLS`.
    public var onBytes: (UnsafeRawBufferPointer) -> Int = { $0.count }
    /// The connection has ended.
    public var onClosed: (StreamClosure) -> Void = { _ in }
    /// Everything written has been given to the kernel, after some of it had to wait.
    public var onDrained: () -> Void = {}
    /// The connection stands and its TLS handshake is done: for streams that connect, and for TLS.
    public var onOpen: () -> Void = {}
    /// Set it where a peer may close its sending end and still wait for an answer. Without it such a peer is gone.
    public var onPeerFinished: (() -> Void)?
    /// A stream whose peer lets more than that pile up is ended with `.tooMuchUnsent`.
    public var maximumPendingWriteBytes = 4 << 20

    /// The peer; whoever reads a PROXY header puts the real one here.
    public var remoteAddress: SocketAddress
    /// Ours, as the kernel says when it is asked; of a stream that has ended nobody's.
    public var localAddress: SocketAddress { descriptor?.localAddress ?? SocketAddress(.anyV4, port: 0) }
    /// Whether TLS was begun, its handshake done or not.
    public var isTLS: Bool { tls != nil && phase != .connecting }
    /// What both sides agreed to speak inside TLS (ALPN); nil before its handshake, and where the
    /// client said nothing that we know.
    public var applicationProtocol: String? { tls?.applicationProtocol }
    /// Whether what is read now is media, for which a loop with very many streams may rest (`EventLoop.longestRest`).
    public var carriesMedia: Bool {
        get { readWatch?.carriesMedia ?? false }
        set { readWatch?.carriesMedia = newValue }
    }
    /// Whether the connection has ended, by whomever.
    public var isClosed: Bool { phase == .closed }
    /// The kernel's smoothed time to the peer and back (TCP_INFO); nil when the stream is closed or the kernel does not know.
    public var roundTrip: Duration? { descriptor?.roundTrip }

    private enum Phase: Equatable {
        case connecting, open
        /// `closeAfterFlush`: nothing more is delivered or taken; `farewell` says how far it is.
        case closing
        case closed
    }

    private let loop: EventLoop
    private let buffers: StreamBuffers
    private var descriptor: OwnedDescriptor?
    /// What it counts for among its worker's connections.
    var place: ConnectionPlace?
    private var phase: Phase
    private var readWatch: DescriptorWatch?
    private var writeWatch: DescriptorWatch?
    private var reading = ReadingSide()
    private var sending = SendingSide()
    /// Made before a stream has connected; the handshake begins when it has.
    private var tls: StreamTLS?
    private var farewell: Farewell?
    /// One deadline at a time: of flushing, of waiting before FIN, of lingering after it, of reporting a failure.
    private var timer: TimerWatch?
    /// Delivers what was kept, after `resumeReading`.
    private var redelivery: TimerWatch?
    /// A closing stream lives on without its owner until it is done.
    private var keepAlive: TCPStream?

    /// Reads an accepted connection from the next turn on, with its listener's TLS and options.
    public init(loop: EventLoop, accepted: AcceptedConnection) {
        self.loop = loop
        (descriptor, place, phase) = (accepted.descriptor, accepted.place, .open)
        remoteAddress = accepted.remoteAddress
        buffers = loop.resource { StreamBuffers() }
        watchReading()
        if let context = accepted.tls { startTLS(context) }
    }

    /// Connects; `onOpen` or `onClosed` follows. What is written before that waits.
    /// - Parameter serverName: whom TLS asks for; the address where it is nil.
    public init(
        loop: EventLoop, connectingTo address: SocketAddress, tls context: TLSContext? = nil, serverName: String? = nil
    ) throws(SystemError) {
        let connection = try OwnedDescriptor(connectingTo: address)
        (self.loop, descriptor, phase, remoteAddress) = (loop, connection, .connecting, address)
        buffers = loop.resource { StreamBuffers() }
        // It becomes writable when it has connected, or has not: then it has an error.
        writeWatch = loop.watch(descriptor: connection.number, for: .write) { [unowned self] in connected() }
        if let context { prepareTLS(context, serverName: serverName ?? "\(address.ip)") }
    }

    deinit { release() }

    /// Bytes written that the kernel has not taken yet.
    public var pendingWriteBytes: Int { sending.waitingByteCount + (tls?.waitingByteCount ?? 0) }

    /// Bytes written that the peer's kernel does not have yet, wherever they wait: they go as the peer takes them, while ours
    /// takes `pendingWriteBytes` by the megabyte.
    public var unacknowledgedBytes: Int { pendingWriteBytes + (descriptor?.unacknowledgedByteCount ?? 0) }

    /// Delivers nothing until `resumeReading`. What TCP has room for still arrives, and no more.
    public func pauseReading() {
        reading.isPaused = true
        readWatch?.suspend()
        if let fault = sending.fault { endSoon(.broken(fault)) }
    }

    /// Goes on reading; what was left unconsumed is delivered again in the next turn.
    public func resumeReading() {
        guard reading.isPaused else { return }
        reading.isPaused = false
        guard phase == .open else { return }
        if reading.unconsumed.isEmpty { return resumeWatching() }
        redelivery = loop.schedule(after: .zero) { [unowned self] in redeliver() }
    }

    /// Ends the connection now. What was not sent is lost; `onClosed` is not called.
    public func close() {
        loop.assertOnLoop()
        phase = .closed
        release()
    }

    /// Frees everything but the stream itself.
    private func release() {
        readWatch?.cancel()
        writeWatch?.cancel()
        timer?.cancel()
        redelivery?.cancel()
        (readWatch, writeWatch, timer, redelivery) = (nil, nil, nil, nil)
        tls?.endHandshake()
        (descriptor, place, keepAlive) = (nil, nil, nil)
    }

    private func connected() {
        guard let descriptor else { return }
        if let fault = descriptor.connectFault { return end(.connectFailed(fault)) }
        writeWatch = nil
        phase = .open
        watchReading()
        if let tls { return beginHandshake(of: tls) }
        if !sending.isEmpty { flush() }
        if phase == .open { onOpen() }
    }

    // MARK: - Reading

    private func watchReading() {
        guard let descriptor else { return }
        readWatch = loop.watch(descriptor: descriptor.number, for: .read) { [unowned self] in becameReadable() }
        if reading.isPaused { readWatch?.suspend() }
    }

    private func resumeWatching() {
        if reading.wantsMore { readWatch?.resume() }
    }

    private func becameReadable() {
        switch phase {
        case .open:
            guard let tls else { return readPlain() }
            if tls.isEstablished { read(through: tls) } else { stepHandshake(of: tls) }
        // Read and forgotten, so that the peer's bytes do not turn our FIN into a reset that takes our last words with it.
        case .closing: _ = unsafe receive(into: buffers.ciphertext)
        case .connecting, .closed: break
        }
    }

    private func readPlain() {
        if let count = unsafe receive(into: buffers.room) { take(count) }
    }

    /// Reads once. Nil when there is nothing, or when the stream has come to an end, which is then dealt with.
    private func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard let descriptor else { return nil }
        switch unsafe descriptor.receive(into: buffer) {
        case .bytes(let count):
            if count == buffer.count { loop.leftMore() }
            return count
        case .nothing: break
        case .finished: peerFinished()
        case .broken(let fault): end(.broken(fault))
        }
        return nil
    }

    private func peerFinished() {
        if let fault = sending.fault { return end(.broken(fault)) }
        // A peer that only listens any more still gets what was written for it.
        guard phase == .open ? onPeerFinished != nil : !sending.isEmpty else { return end(.peerFinished) }
        reading.hasPeerFinished = true
        readWatch?.suspend()
        if phase == .open { onPeerFinished?() }
    }

    /// So many bytes of plaintext have come into the loop's room for them.
    private func take(_ count: Int) {
        if let bytes = unsafe reading.received(count, in: buffers) { unsafe deliver(bytes) }
    }

    /// Gives bytes to the parser, again and again while it makes progress, and keeps what it leaves.
    private func deliver(_ bytes: UnsafeRawBufferPointer) {
        var rest = unsafe bytes
        let wasPlain = tls == nil
        while unsafe !rest.isEmpty {
            let consumed = unsafe onBytes(rest)
            precondition((0...rest.count).contains(consumed), "a parser consumed what it was not given")
            guard phase == .open else { return }
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[consumed...])
            if wasPlain, let tls {
                // It may lie in the window, where the plaintext will go.
                tls.keepFirst(unsafe [UInt8](rest))
                return stepHandshake(of: tls)
            }
            guard consumed > 0, unsafe !rest.isEmpty, !reading.isPaused else { break }
        }
        if unsafe !rest.isEmpty, unsafe !reading.keep(rest) { end(.tooMuchUnconsumed) }
    }

    private func redeliver() {
        redelivery = nil
        guard phase == .open, !reading.isPaused else { return }
        let kept = reading.takeUnconsumed()
        unsafe kept.withUnsafeBytes { unsafe deliver($0) }
        if phase == .open { resumeWatching() }
    }

    // MARK: - TLS

    /// Speaks TLS from here on, as server or client as the context is. Allowed inside `onBytes`: what it then leaves
    /// unconsumed is the beginning of TLS. A server's handshake waits for its turn in the loop's `HandshakeScheduler`.
    public func startTLS(_ context: TLSContext, serverName: String? = nil) {
        loop.assertOnLoop()
        precondition(tls == nil, "TLS starts once")
        guard phase == .open else { return }
        prepareTLS(context, serverName: serverName)
        if let tls { beginHandshake(of: tls) }
    }

    private func prepareTLS(_ context: TLSContext, serverName: String?) {
        do { tls = try StreamTLS(context, serverName: serverName) } catch { endSoon(.tlsFailed(error)) }
    }

    private func beginHandshake(of tls: StreamTLS) {
        tls.beginHandshake(on: loop, with: remoteAddress.ip) { [unowned self] in end(.tlsHandshakeTimedOut) }
        // Inside `onBytes` nothing is kept yet: `deliver` goes on with what is left.
        tls.keepFirst(reading.takeUnconsumed())
        if tls.hasNextStep { stepHandshake(of: tls) }
    }

    /// Some of the handshake's bytes are here: use them when it is this handshake's turn, and leave them unread until then.
    private func stepHandshake(of tls: StreamTLS) {
        readWatch?.suspend()
        tls.performInTurn { [weak self] in self?.takeTurn() }
    }

    private func takeTurn() {
        guard let tls else { return }
        if let first = tls.takeFirst() {
            unsafe first.withUnsafeBytes { unsafe decrypt($0, by: tls) }
        } else {
            read(through: tls)
        }
        if phase == .open { resumeWatching() }
    }

    private func read(through tls: StreamTLS) {
        let free = unsafe UnsafeMutableRawBufferPointer(rebasing: buffers.ciphertext.prefix(StreamBuffers.readBytes))
        guard let count = unsafe receive(into: free) else { return }
        unsafe decrypt(UnsafeRawBufferPointer(rebasing: free[..<count]), by: tls)
    }

    private func decrypt(_ ciphertext: UnsafeRawBufferPointer, by tls: StreamTLS) {
        unsafe tls.receive(ciphertext)
        do {
            while phase == .open {
                let event = unsafe try tls.advance(into: buffers.room)
                sendOutgoing(of: tls)
                switch event {
                case .needsMore: return
                case .handshakeCompleted:
                    write(tls.takeWaiting())
                    onOpen()
                case .plaintext(let count): take(count)
                case .closedByPeer: return peerFinished()
                }
            }
        } catch {
            sendOutgoing(of: tls)  // the alert
            end(.tlsFailed(error))
        }
    }

    private func sendOutgoing(of tls: StreamTLS) {
        guard phase != .closed, let bytes = tls.takeOutgoing() else { return }
        unsafe bytes.withUnsafeBytes { unsafe send($0) }
    }

    // MARK: - Writing

    /// Sends bytes, at once as far as the kernel takes them; the rest waits, up to `maximumPendingWriteBytes`.
    ///
    /// After the stream has ended it does nothing: whoever writes need not know yet.
    public func write(_ bytes: UnsafeRawBufferPointer) {
        loop.assertOnLoop()
        guard phase == .open || phase == .connecting, unsafe !bytes.isEmpty else { return }
        guard let tls else { return unsafe send(bytes) }
        do {
            unsafe try tls.write(bytes)
            sendOutgoing(of: tls)
        } catch {
            endSoon(.tlsFailed(error))
        }
    }

    /// The same for bytes in an array.
    public func write(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBytes { unsafe write($0) } }

    /// Sends bytes as they are to appear on the wire.
    private func send(_ bytes: UnsafeRawBufferPointer) {
        switch unsafe sending.send(bytes, over: phase == .connecting ? nil : descriptor) {
        case .done: break
        case .broken(let fault): sendingFailed(fault)
        case .waiting where sending.waitingByteCount > maximumPendingWriteBytes: endSoon(.tooMuchUnsent)
        case .waiting: if phase != .connecting { awaitWritable() }
        }
    }

    /// Sends what waits. Called when the descriptor is writable.
    private func flush() {
        guard let descriptor else { return }
        switch sending.flush(over: descriptor) {
        case .waiting: awaitWritable()
        case .broken(let fault): sendingFailed(fault)
        case .done:
            writeWatch?.suspend()
            if phase == .closing { perform(farewell?.flushed()) } else { onDrained() }
        }
    }

    /// Nothing more can be sent. What the peer sent before its reset is still read: its goodbye may be among it.
    private func sendingFailed(_ fault: CInt) {
        guard phase == .open, reading.wantsMore else { return endSoon(.broken(fault)) }
        sending.giveUp(after: fault)
        writeWatch?.suspend()
    }

    private func awaitWritable() {
        if let writeWatch { return writeWatch.resume() }
        guard let descriptor else { return }
        writeWatch = loop.watch(descriptor: descriptor.number, for: .write) { [unowned self] in flush() }
    }

    // MARK: - Ending

    /// For flushing where nobody says otherwise, besides the waiting that was asked for.
    public static let maximumFlushTime = Duration.seconds(5)

    /// Sends what waits, within the limit, then pauses, says FIN and waits for the peer's; `onClosed(.flushed)` follows.
    ///
    /// The pause lets a peer read last words before it sees the end: OBS and librtmp throw away what they did not read before
    /// FIN. Bytes of the peer are read and forgotten until then. The stream lives on without its owner.
    public func closeAfterFlush(lingering pause: Duration = .zero, within limit: Duration = TCPStream.maximumFlushTime) {
        loop.assertOnLoop()
        guard phase == .open else {
            if phase == .connecting { close() }
            return
        }
        (phase, farewell, keepAlive) = (.closing, Farewell(pause: pause), self)
        tls?.endHandshake()
        redelivery = nil
        _ = reading.takeUnconsumed()
        startTimer(limit) { $0.end(.flushed) }
        if reading.hasPeerFinished { readWatch?.suspend() } else { readWatch?.resume() }
        if sending.isEmpty { perform(farewell?.flushed()) }
    }

    private func perform(_ step: Farewell.Step?) {
        switch step {
        case .pause(let time): startTimer(time) { $0.perform($0.farewell?.pauseEnded()) }
        case .sayNothingFollows:
            startTimer(Self.maximumFlushTime) { $0.end(.flushed) }
            if let tls {
                tls.close()
                sendOutgoing(of: tls)
            }
            if sending.isEmpty { perform(farewell?.flushed()) }
        case .sayFIN:
            writeWatch = nil
            descriptor?.sayFIN()
            if reading.hasPeerFinished { return endSoon(.flushed) }
            startTimer(Farewell.maximumLingerTime) { $0.end(.flushed) }
        case nil: break
        }
    }

    private func startTimer(_ delay: Duration, _ body: @escaping (TCPStream) -> Void) {
        timer = loop.schedule(after: delay) { [unowned self] in body(self) }
    }

    /// Ends the stream and calls `onClosed`. Only from the loop's own callbacks.
    private func end(_ reason: StreamClosure) {
        guard phase != .closed else { return }
        let isClosing = phase == .closing
        phase = .closed
        let alive = keepAlive
        release()
        onClosed(isClosing ? .flushed : reason)
        _ = alive
    }

    /// Ends the stream and calls `onClosed` in the next turn, because our caller is in the middle of something.
    private func endSoon(_ reason: StreamClosure) {
        guard phase != .closed else { return }
        readWatch?.suspend()
        writeWatch?.suspend()
        startTimer(.zero) { $0.end(reason) }
    }

    // MARK: - Another loop

    /// Gives up the connection so that another loop may go on with it; the stream is closed then. Not from inside `onBytes`.
    /// - Returns: nil when that cannot be: TLS, bytes that wait to be sent, or an end under way.
    public func detach() -> DetachedConnection? {
        guard phase == .open, tls == nil, sending.isEmpty, !reading.hasPeerFinished, let descriptor else { return nil }
        let connection = AcceptedConnection(descriptor: descriptor, remoteAddress: remoteAddress)
        defer { close() }
        return DetachedConnection(connection: connection, unread: reading.unconsumed)
    }

    /// Goes on with a connection of another loop; what was unread is delivered in the next turn.
    public convenience init(loop: EventLoop, resuming detached: DetachedConnection) {
        self.init(loop: loop, accepted: detached.connection)
        reading = ReadingSide(unconsumed: detached.unread)
        pauseReading()
        resumeReading()
    }
}
