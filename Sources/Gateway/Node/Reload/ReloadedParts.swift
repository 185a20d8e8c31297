import Admission
import ControlPlane
import GatewayLogging
import MediaContract
import Settings
import Store

/// The parts of a running node that obey a changed configuration at once.
struct ReloadedParts {
    let shared: SharedParts
    let store: NodeStore
    let workers: WorkerGroup
    let load: LoadGuard
    let drain: NodeDrain
    let admin: AdminSite
    let storage: StorageService

    /// Puts the change into force.
    func take(_ change: NodeReload.Change) {
        if let tls = change.tls { workers.tell(.replaceTLS(tls)) }
        let configuration = change.configuration
        Log.setLevel(LogLevel(name: configuration.logging.level.rawValue) ?? .info)
        shared.contract.context.apply(configuration.contract)
        load.apply(configuration.overload)
        shared.admission.gate.requiresTLS = configuration.rtmp.requiresTLS
        shared.admission.tokens.apply(configuration.tokens)
        drain.apply(configuration.drain)
        storage.apply(configuration)
        admin.apply(ControlPlaneSettings(configuration, store: store))
    }
}
