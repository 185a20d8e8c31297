import EventLoop
import Handover
import Sockets

/// Every descriptor that a successor gets, and our ends of the pairs among them, which are made anew for each successor.
struct OfferedSockets {
    /// Our ends of the pairs for datagrams, one for each worker.
    let links: [OwnedDescriptor]
    /// Our end of the pair that tells when the successor is gone.
    let lifeLine: OwnedDescriptor
    private let sockets: [(role: SocketRole, descriptor: OwnedDescriptor)]

    /// - Parameters:
    ///   - own: everything but the pairs.
    ///   - older: life lines of the processes before us.
    /// - Throws: when the system gives no more descriptors.
    init(_ own: [(SocketRole, OwnedDescriptor)], workers: Int, older: [OwnedDescriptor]) throws(SystemError) {
        var sockets = own.map { (role: $0.0, descriptor: $0.1) }
        var links: [OwnedDescriptor] = []
        for worker in 0..<workers {
            let (ours, theirs) = try DescriptorMessage.makePair()
            links.append(ours)
            sockets.append((SocketRole(.datagrams, worker: worker), theirs))
        }
        let (ours, theirs) = try DescriptorMessage.makePair()
        for (number, line) in ([theirs] + older).enumerated() { sockets.append((SocketRole(.life, worker: number), line)) }
        (self.sockets, self.links, lifeLine) = (sockets, links, ours)
    }

    var count: Int { sockets.count }

    func send(over channel: HandoverChannel) {
        for start in stride(from: 0, to: sockets.count, by: DescriptorMessage.maximumDescriptors) {
            let part = sockets[start...].prefix(DescriptorMessage.maximumDescriptors)
            channel.send(.sockets(part.map { $0.role }), part.map { $0.descriptor })
        }
    }
}
