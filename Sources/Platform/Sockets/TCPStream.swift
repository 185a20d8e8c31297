import CShim
public import EventLoop
public import OpenSSL
public import Wire

/// One TCP connection on a loop, plain or with TLS.
///
/// Every handler may close or drop the stream. `onClosed` is called once, never from inside a call of ours, and not after
/// `close()`. A stream that is dropped closes its connection.
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
    public let localAddress: SocketAddress
    public var isTLS: Bool { tls != nil }
    /// Whether what is read now is media, for which a loop with very many streams may rest (`EventLoop.moderatesWakeUps`).
    public var carriesMedia: Bool {
        get { readWatch?.carriesMedia ?? false }
        set { readWatch?.carriesMedia = newValue }
    }
    public var isClosed: Bool { phase == .closed }

    enum Phase: Equatable {
        case connecting, open
        /// `closeAfterFlush`: nothing more is delivered or taken; before and after our FIN.
        case flushing, lingering
        case closed
    }

    let loop: EventLoop
    let buffers: StreamBuffers
    var descriptor: OwnedDescriptor?
    var place: ConnectionPlace?
    var phase: Phase
    var readWatch: DescriptorWatch?
    var writeWatch: DescriptorWatch?
    var unconsumed: [UInt8] = []
    var isReadingPaused = false
    var hasPeerFinished = false
    var pending = WriteQueue()
    /// Sending failed with this errno; what had come before is still being read.
    var writeFault: CInt?
    /// Written before the TLS handshake was done.
    var plaintextInWaiting: [UInt8] = []
    var tls: TLSConnection?
    var handshake: TLSHandshakeProgress?
    /// One deadline at a time: of flushing, of waiting before FIN, of lingering after it, of a failure to be told.
    var timer: TimerWatch?
    /// Delivers what was kept, after `resumeReading`.
    var redelivery: TimerWatch?
    var pauseBeforeFIN = Duration.zero
    var isFINDue = false
    /// A closing stream lives on without its owner until it is done.
    var keepAlive: TCPStream?
    private(set) var tlsOnceConnected: (context: TLSContext, serverName: String)?

    /// Reads an accepted connection from the next turn on, with its listener's TLS and options.
    public init(loop: EventLoop, accepted: AcceptedConnection) {
        self.loop = loop
        (descriptor, place, phase) = (accepted.descriptor, accepted.place, .open)
        (remoteAddress, localAddress) = (accepted.remoteAddress, accepted.localAddress)
        buffers = loop.resource { StreamBuffers() }
        watchReading()
        if let context = accepted.tls { startTLS(context) }
    }

    /// Connects; `onOpen` or `onClosed` follows. What is written before that waits.
    /// - Parameter serverName: whom TLS asks for; the address where it is nil.
    public init(
        loop: EventLoop, connectingTo address: SocketAddress, tls context: TLSContext? = nil, serverName: String? = nil
    ) throws(SystemError) {
        self.loop = loop
        let connection = try Self.connect(to: address)
        (descriptor, phase) = (connection, .connecting)
        remoteAddress = address
        localAddress = SocketAddress(shim_local_address(connection.number)) ?? SocketAddress(.anyV4, port: 0)
        buffers = loop.resource { StreamBuffers() }
        shim_tune_stream(connection.number, UInt32(Self.userTimeout.milliseconds))
        tlsOnceConnected = context.map { ($0, serverName ?? "\(address.ip)") }
        awaitConnection()
    }

    deinit { release() }

    public var pendingWriteBytes: Int { pending.count + plaintextInWaiting.count }

    /// Delivers nothing until `resumeReading`. What TCP has room for still arrives, and no more.
    public func pauseReading() {
        isReadingPaused = true
        readWatch?.suspend()
        if let writeFault { endSoon(.broken(writeFault)) }
    }

    /// Goes on reading; what was left unconsumed is delivered again in the next turn.
    public func resumeReading() {
        guard isReadingPaused else { return }
        isReadingPaused = false
        guard phase == .open else { return }
        if unconsumed.isEmpty { return resumeWatching() }
        redelivery = loop.schedule(after: .zero) { [unowned self] in
            redelivery = nil
            redeliver()
        }
    }

    /// Ends the connection now. What was not sent is lost; `onClosed` is not called.
    public func close() {
        loop.assertOnLoop()
        phase = .closed
        release()
    }

    /// Frees everything but the stream itself.
    func release() {
        for watch in [readWatch, writeWatch, timer, redelivery] { watch?.cancel() }
        (readWatch, writeWatch, timer, redelivery) = (nil, nil, nil, nil)
        handshake?.cancel()
        (handshake, descriptor, place, keepAlive) = (nil, nil, nil, nil)
    }
}
