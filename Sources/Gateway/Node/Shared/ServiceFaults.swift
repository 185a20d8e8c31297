import EventLoop
import GatewayLogging
import Wire

/// Why a service of the operator's takes or decides nothing, for the log: one line a minute, however often it is asked.
enum ServiceFaults {
    /// - Parameters:
    ///   - event: the line's name.
    ///   - fields: which service it is.
    static func log(_ event: String, _ fields: LogFields = [:]) -> (String) -> Void {
        var allowance = Allowance(1, then: .seconds(60))
        return { words in
            guard allowance.take(at: EventLoop.monotonicNow()) else { return }
            Log.event(.warning, event, fields.adding(["because": .string(words)]))
        }
    }
}
