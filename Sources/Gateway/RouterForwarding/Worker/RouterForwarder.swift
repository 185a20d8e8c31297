import Admission
public import EventLoop
public import StageHub

/// A worker's side of forwarding: legs of its publications, opened and closed as the control loop says. Confined to the worker.
public final class RouterForwarder {
    private let socket: RouterSocket
    private let replicas: Int
    private let control: MailboxSender<ForwardingEvent>
    private var mailbox: Mailbox<LegCommand>?
    private var sessions: [ForwardingID: ForwardingSession] = [:]

    /// - Parameter replicas: how many routers each stage is sent to.
    public init(socket: RouterSocket, replicas: Int = 1, control: MailboxSender<ForwardingEvent>) throws(SystemError) {
        (self.socket, self.replicas, self.control) = (socket, replicas, control)
        mailbox = try Mailbox(loop: socket.loop) { [unowned self] in perform($0) }
    }

    /// Forwards a publication until it ends; it is announced once its formats are known.
    public func attach(_ publication: Publication) {
        let id = ForwardingID(publication.grant.participant)
        let session = ForwardingSession(publication, socket: socket, replicas: replicas) { [unowned self] in forward($0, of: id) }
        sessions[id] = session
        session.start()
    }

    private func forward(_ event: ForwardingSession.Event, of id: ForwardingID) {
        switch event {
        case .ready(let announcement):
            guard let mailbox else { return }
            control.send(.started(id, announcement, worker: mailbox.sender))
        case .changed(let announcement): control.send(.changed(id, announcement))
        case .feedback(let replica, let moment): control.send(.feedback(id, replica: replica, at: moment))
        case .ended(let reason):
            control.send(.ended(id, reason))
            sessions[id] = nil
        }
    }

    private func perform(_ command: LegCommand) {
        switch command {
        case .open(let id, let replica, let plan): sessions[id]?.legs[replica].open(plan)
        case .close(let id, let replica): sessions[id]?.legs[replica].close()
        }
    }
}
