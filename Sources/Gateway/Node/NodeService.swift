/// A part of the running node that has to be stopped in its turn. It runs from the moment it is made.
///
/// Parts that have nothing but timers on the control loop are no services: when services stop, the
/// loop has turned for the last time.
protocol NodeService: AnyObject {
    /// Called once, while everything that the service was made from is still there.
    func stop()
}

/// The services that run, in the order of their start: each is made from earlier ones, and stops before they do.
struct ServiceStack {
    private var running: [any NodeService] = []

    /// Starts services; `services` hands each to `add` as soon as it runs. When one throws, those
    /// that run stop, the last one first.
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

    /// Stops all, the last one first.
    mutating func stop() {
        while let service = running.popLast() { service.stop() }
    }
}
