public import Admission
public import Refusals
public import Wire

/// One participant's live publish on its worker: the ingest writes, the sinks read. Confined to the worker.
public final class Publication {
    /// Whose publish it is, and on which stage.
    public let grant: PublishGrant
    /// The right by which it is live.
    public let lease: PublishLease
    public let ingestProtocol: IngestProtocol
    /// Nil where nobody asks: in tests, and for the router's conformance check.
    public let origin: PublishOrigin?
    /// The ingest counts what comes in.
    public let counters: PublishCounters
    /// Media time → wall clock, one for all tracks; sinks make their sender reports from it.
    public let timeline: Timeline
    /// By track, as far as they are known.
    public private(set) var formats: [TrackID: TrackFormat] = [:]
    /// Nil before it is known, and where the hub's audio packets are what came.
    public private(set) var sourceAudioFormat: SourceAudioFormat?
    /// Whom sinks ask for keyframes; nil where nobody can be asked.
    public weak var source: (any MediaSource)?
    /// Whose media this is, where the participant publishes on another stage.
    private let original: Publication?
    private var ladder = LayerLadder()
    private var limits: [ObjectIdentifier: Int] = [:]
    /// All who are told, the sinks among them.
    private var observers: [any PublicationObserver] = []
    /// The observers that take packets. Replaced, never changed in place, so that reading it for every frame needs no check of
    /// exclusive access.
    private var receivers: [any MediaSink] = []
    /// The observers that keep audio as it came. Replaced as well.
    private var sourceAudioReceivers: [any SourceAudioSink] = []

    public init(
        grant: PublishGrant, lease: PublishLease, ingestProtocol: IngestProtocol, origin: PublishOrigin? = nil,
        timeline: Timeline
    ) {
        (self.grant, self.lease, self.ingestProtocol) = (grant, lease, ingestProtocol)
        (self.origin, self.timeline) = (origin, timeline)
        (counters, original) = (PublishCounters(), nil)
    }

    /// The same media on a further stage: it shares counters and timeline, and a sink of the original hands on what comes.
    public init(replicating original: Publication, grant: PublishGrant, lease: PublishLease, origin: PublishOrigin?) {
        (self.grant, self.lease, ingestProtocol) = (grant, lease, original.ingestProtocol)
        (self.origin, self.original, counters, timeline) = (origin, original, original.counters, original.timeline)
    }

    /// The layers of video whose size is known, best first.
    public var layers: [VideoLayer] { original?.layers ?? ladder.layers }

    /// What the layers are called, by place; empty where there is only one.
    public var layerNames: [UInt8: String] {
        if let original { return original.layerNames }
        return ladder.isLayered ? layers.reduce(into: [:]) { $0[$1.track.layer] = $1.name.rawValue } : [:]
    }

    // MARK: - Who is told

    /// Adds an observer and tells it the formats and layers known so far.
    public func add(observer: any PublicationObserver) {
        observers.append(observer)
        for (track, format) in formats { observer.formatChanged(track, to: format) }
        if !layers.isEmpty { observer.layersChanged() }
    }

    /// Adds a sink, which is told as observers are.
    public func add(_ sink: any MediaSink) {
        receivers = receivers + [sink]
        add(observer: sink)
        guard let sink = sink as? any SourceAudioSink else { return }
        sourceAudioReceivers = sourceAudioReceivers + [sink]
        if let sourceAudioFormat { sink.sourceAudioChanged(to: sourceAudioFormat) }
    }

    /// The sink is told nothing more, not even the end, and its limit is lifted.
    public func remove(_ sink: any MediaSink) {
        observers = observers.filter { $0 !== sink }
        stopForwarding(to: sink)
        limitBitrate(nil, for: sink)
    }

    /// The sink needs no packets any more; it still hears of formats, mutes and the end.
    public func stopForwarding(to sink: any MediaSink) {
        receivers = receivers.filter { $0 !== sink }
        sourceAudioReceivers = sourceAudioReceivers.filter { $0 !== sink }
    }

    /// What a sink's receivers can take, bits a second; the encoder is told the least of all sinks' limits when that changes.
    public func limitBitrate(_ bitsPerSecond: Int?, for sink: any MediaSink) {
        let former = limits.values.min()
        limits[ObjectIdentifier(sink)] = bitsPerSecond
        if limits.values.min() != former { source?.limitBitrate(limits.values.min()) }
    }

    // MARK: - What the ingest tells

    /// Tells who observes, where the format is another one than before.
    public func setFormat(_ format: TrackFormat, of track: TrackID) {
        guard formats[track] != format else { return }
        formats[track] = format
        for observer in observers { observer.formatChanged(track, to: format) }
    }

    /// The parameter sets of a layer tell its size, at first or anew.
    /// - Parameter rid: the encoder's own name of it.
    public func setPictureSize(width: Int, height: Int, of track: TrackID, rid: String = "", at now: MonotonicTime) {
        counters[track].setPictureSize(width: width, height: height)
        ladder.sized(track, rid: rid, width: width, height: height, at: now)
        tellLayers()
    }

    /// To be called about once a second: what each layer brings.
    public func tick(at now: MonotonicTime) {
        ladder.measure(counters, at: now)
        tellLayers()
    }

    private func tellLayers() {
        if ladder.takeNews() { layersChanged() }
    }

    /// Also called by whoever hands on the media of an original.
    public func layersChanged() {
        for observer in observers { observer.layersChanged() }
    }

    /// A track fell silent, or goes on.
    public func muteChanged(_ track: TrackID, isMuted: Bool) {
        for observer in observers { observer.muteChanged(track, isMuted: isMuted) }
    }

    /// Sequence numbers and timestamps of all tracks start anew after this.
    public func restarted() {
        for observer in observers { observer.restarted() }
    }

    /// The ingest has just reported that the publish has started.
    public func started() {
        for observer in observers { observer.publishStarted() }
    }

    /// Called by a sink whose router has answered.
    public func announced() { source?.announced() }

    // MARK: - Media

    /// Hands one run to all sinks, one after another. Payloads need to be valid until this returns.
    public func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) {
        if ladder.isLayered, run.track.kind == .video, ladder.heard(run.track, at: run.arrival) { tellLayers() }
        for receiver in receivers { unsafe receiver.forward(packets, of: run) }
    }

    /// The ingest's audio is of another format than the hub's packets, which are made from it; nil: they are what came.
    public func setSourceAudioFormat(_ format: SourceAudioFormat?) {
        guard sourceAudioFormat != format else { return }
        sourceAudioFormat = format
        for receiver in sourceAudioReceivers { receiver.sourceAudioChanged(to: format) }
    }

    /// One frame of audio as it came, for whoever keeps that.
    public func forwardSourceAudio(_ frame: UnsafeRawBufferPointer, at mediaTime: Duration, arrival: MonotonicTime) {
        for receiver in sourceAudioReceivers { unsafe receiver.forwardSourceAudio(frame, at: mediaTime, arrival: arrival) }
    }

    /// The publish is over: all who observe are told so, once, and nothing after that.
    public func end(_ reason: SessionEnd) {
        let ending = observers
        (observers, receivers, sourceAudioReceivers) = ([], [], [])
        // The encoder hears of no limits any more.
        limits = [:]
        for observer in ending { observer.ended(reason) }
    }
}
