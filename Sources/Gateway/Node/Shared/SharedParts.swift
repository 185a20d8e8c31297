import DataDirectory
import EventLoop
import OpenSSL
import RouterForwarding
import Settings
import Wire

/// What exists once in a node and several threads use, in groups: a service takes the groups that it needs.
struct SharedParts: Sendable {
    /// Of this process's sessions; a process that takes our place has the next one.
    let generation: UInt8
    /// Binds the ids of WHIP sessions to their tokens.
    let sessionKey: Secret
    let workerCount: Int
    let instruments = Instruments()
    let admission: SharedAdmission
    let contract: SharedContract
    let records: SharedRecords
    let tls: TLSContext
    let rtmp: SharedRTMP
    let webRTC: SharedWebRTC
    let staticRouters: [StaticRouter]
    let routerMetrics: RouterMetrics
    let foreignRequests = ForeignRequests()

    init(
        _ configuration: StagedoorConfiguration, listeners: Listeners, workerCount: Int, generation: UInt8,
        sessionKey: Secret, store: NodeStore, directory: borrowing DataDirectory, certificates: ServerCertificates
    ) throws {
        (self.workerCount, self.generation, self.sessionKey) = (workerCount, generation, sessionKey)
        let metrics = instruments.metrics
        admission = try SharedAdmission(configuration, store, metrics: metrics)
        contract = SharedContract(configuration.contract, metrics: metrics)
        records = SharedRecords(metrics)
        rtmp = try SharedRTMP(
            configuration, workerCount: workerCount, admission: admission, membership: store.membership, records: records,
            instruments: instruments)
        tls = try certificates.makeContext(configuration.tls)
        staticRouters = try StaticRouters.make(configuration, directory: directory)
        routerMetrics = RouterMetrics(metrics, routers: configuration.routers.keys.sorted())
        webRTC = try SharedWebRTC(
            configuration, media: listeners.media.first, generation: generation, sessionKey: sessionKey, workerCount: workerCount,
            store: store, admission: admission, records: records, metrics: metrics)
    }
}
