/// A part of the running node that has to be ended in its turn. It runs from the moment it is made.
///
/// What only has timers on the control loop needs no end: the loop has turned for the last time when services are stopped.
protocol NodeService: AnyObject {
    /// Ends it, once. What it was made from is still there.
    func stop()
}

/// The services that run, in the order of their start: each is made from those before it, and ended before them.
struct ServiceStack {
    private var running: [any NodeService] = []

    /// Starts services, each handed to `add` as soon as it runs. When one fails, those that run are ended, the last one first.
    mutating func start(_ services: (inout ServiceStack) throws -> Void) throws {
        do {
            try services(&self)
        } catch {
            stop()
            throw error
        }
    }

    @discardableResult
    mutating func add<Service: NodeService>(_ service: Service) -> Service {
        running.append(service)
        return service
    }

    /// Ends all, the last one first.
    mutating func stop() {
        while let service = running.popLast() { service.stop() }
    }
}
