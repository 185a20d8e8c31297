public import EventLoop
import Foundation
import HandoverCodec
public import Sockets

/// The successor's side until it has everything: asks the running process of a data directory for its place, step by step.
///
/// It waits, because there is no loop yet that could be kept from anything. Whatever throws ends the successor, and with
/// it the connection: then the predecessor (`HandoverMachine`) goes on as if nothing had been.
public final class Succession {
    /// What the predecessor has said of itself.
    public let offer: HandoverOffer
    /// Its descriptors, by what each is for.
    public private(set) var sockets: [SocketRole: OwnedDescriptor] = [:]
    private let descriptor: OwnedDescriptor
    private var machine = SuccessionMachine()
    private var frames = MessageFrames()

    /// Receives the descriptors. The predecessor serves on.
    /// - Throws: `HandoverError`; `.nobody` when no process runs on the directory.
    public init(directory: String) throws {
        do {
            descriptor = try MessageSocket.connect(to: Self.path(in: directory))
        } catch {
            throw HandoverError.nobody("\(error)")
        }
        guard DescriptorMessage.peerUser(of: descriptor) == getuid() else { throw HandoverError.stranger }
        var (machine, frames) = (SuccessionMachine(), MessageFrames())
        try Self.send(machine.greet(process: getpid()), over: descriptor)
        while machine.isWaiting {
            let (message, descriptors) = try Self.receive(over: descriptor, &frames)
            _ = try machine.received(message, descriptors: descriptors.count)
            if case .sockets(let roles) = message {
                for (role, descriptor) in zip(roles, descriptors) { sockets[role] = descriptor }
            }
        }
        guard let offer = machine.offer else { throw HandoverError.unexpected }
        (self.offer, self.machine, self.frames) = (offer, machine, frames)
    }

    /// Has the store handed over: from now on the predecessor's files are ours. Its streams and its listeners go on.
    /// - Returns: what it told until then.
    public func prepare() throws -> SuccessionMachine.Inventory {
        try Self.send(machine.prepare(), over: descriptor)
        try adoptUntilAnswered { _ in }
        return machine.inventory
    }

    /// Says that everything is there to serve with. When it returns the predecessor neither accepts nor reads.
    /// - Parameter adopt: called with what it sends before, in order.
    public func takePlace(_ adopt: (HandoverMessage) -> Void) throws {
        try Self.send(machine.takePlace(), over: descriptor)
        try adoptUntilAnswered(adopt)
    }

    /// Closes what nothing here uses. The predecessor's own descriptor of the same socket stays open.
    public func close(_ role: SocketRole) { sockets[role] = nil }

    /// The connection as it goes on while the predecessor has sessions. It follows that process and those before it.
    public func channel(on loop: EventLoop) -> HandoverChannel {
        let channel = HandoverChannel(loop: loop, descriptor: descriptor)
        for (role, line) in sockets where role.kind == .life { channel.follow(line) }
        return channel
    }

    private func adoptUntilAnswered(_ adopt: (HandoverMessage) -> Void) throws {
        while machine.isWaiting {
            let (message, descriptors) = try Self.receive(over: descriptor, &frames)
            if let news = try machine.received(message, descriptors: descriptors.count) { adopt(news) }
        }
    }

    private static func send(_ message: HandoverMessage, over socket: OwnedDescriptor) throws {
        guard let encoded = MessageCodec.encode(message) else { throw HandoverError.unexpected }
        try asking { for frame in MessageFrames.cut(encoded) { try frame.send(over: socket) } }
    }

    private static func receive(
        over socket: OwnedDescriptor, _ frames: inout MessageFrames
    ) throws -> (HandoverMessage, [OwnedDescriptor]) {
        while true {
            guard MessageSocket.waitForMessage(on: socket, within: patience) else { throw HandoverError.late }
            guard let frame = try asking({ try DescriptorMessage.receive(over: socket) }) else { throw HandoverError.gone }
            guard let (bytes, descriptors) = try frames.append(frame) else { continue }
            return (try MessageCodec.decode(HandoverMessage.self, from: bytes), descriptors)
        }
    }

    /// The running process is gone, whichever call finds it out.
    private static func asking<Answer>(_ body: () throws -> Answer) throws -> Answer {
        do { return try body() } catch let error as SystemError where error.code == EPIPE || error.code == ECONNRESET {
            throw HandoverError.gone
        }
    }

    /// Where the running process waits for its successor.
    public static func path(in directory: String) -> String { directory + "/handover.sock" }

    /// How long each answer may take: the predecessor writes what waits for its store, and no more.
    static let patience = Duration.seconds(10)
}

/// Why a process does not take another one's place, in words for whoever started it.
public enum HandoverError: Error, Equatable, Sendable, CustomStringConvertible {
    case nobody(String)
    case stranger
    case refused(String)
    /// The configuration has another media port than the running process, or none.
    case mediaMoved
    case unexpected
    case late
    case gone

    public var description: String {
        switch self {
        case .nobody(let reason): "nobody runs on this data directory whose place could be taken (\(reason))"
        case .stranger: "the process on this data directory runs as another user"
        case .refused(let reason): "the running process does not hand over: \(reason)"
        case .mediaMoved: "media.listen changed: live WHIP sessions would lose their port; drain the running process instead"
        case .unexpected: "the running process said what this version does not understand"
        case .late: "the running process did not answer within 10 s"
        case .gone: "the running process ended the take-over"
        }
    }
}
