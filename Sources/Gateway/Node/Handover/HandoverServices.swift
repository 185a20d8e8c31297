import Admission
import MediaContract
import RouterForwarding

/// What of the node two processes that share its place tell each other of.
struct HandoverServices {
    let gate: AdmissionGate
    let staticRouters: [StaticRouter]
    let contract: ContractDesk
    let foreignRequests: ForeignRequests

    init(_ shared: SharedParts) {
        (gate, staticRouters) = (shared.admission.gate, shared.staticRouters)
        (contract, foreignRequests) = (shared.contract.desk, shared.foreignRequests)
    }
}
