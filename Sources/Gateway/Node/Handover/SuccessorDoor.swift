import EventLoop
import Foundation
import Handover
import Sockets

/// Where whoever wants to take this process's place connects: a path of the data directory, for the same user only. On the
/// control loop.
final class SuccessorDoor {
    /// Called with each connection, which ends with the call if nobody keeps it.
    var onConnection: (HandoverChannel) -> Void = { _ in }

    private let loop: EventLoop
    private let path: String
    private var socket: OwnedDescriptor?
    private var watch: DescriptorWatch?
    private var pause: TimerWatch?
    /// Connections that are to hear why not.
    private var refused: [ObjectIdentifier: HandoverChannel] = [:]

    init(loop: EventLoop, directory: String) { (self.loop, path) = (loop, Succession.path(in: directory)) }

    /// Takes the path from whoever has it, ourselves included.
    func open() throws(SystemError) {
        let socket = try MessageSocket.listen(at: path)
        close()
        self.socket = socket
        watch = loop.watch(descriptor: socket.number, for: .read) { [unowned self] in accept() }
    }

    /// Leaves the path to another process.
    func close() {
        watch?.cancel()
        (watch, socket) = (nil, nil)
    }

    /// Says why not once it has said something: a connection that is closed before that loses the words.
    func refuse(_ channel: HandoverChannel, because reason: String) {
        guard refused.count < Self.maximumRefused else { return }
        let id = ObjectIdentifier(channel)
        refused[id] = channel
        channel.onMessage = { [unowned channel] _, _ in channel.send(.refused(reason)) }
        channel.onClosed = { [unowned self] in refused[id] = nil }
    }

    private func accept() {
        guard let socket else { return }
        guard let connection = MessageSocket.accept(from: socket) else { return rest() }
        guard DescriptorMessage.peerUser(of: connection) == getuid() else { return }
        onConnection(HandoverChannel(loop: loop, descriptor: connection))
    }

    /// Without a descriptor for it the connection goes on waiting, and the loop would turn for nothing else.
    private func rest() {
        watch?.suspend()
        pause = loop.schedule(after: .milliseconds(100)) { [unowned self] in watch?.resume() }
    }

    /// Would-be successors that are being refused at one time; further ones are only cut off.
    private static let maximumRefused = 8
}
