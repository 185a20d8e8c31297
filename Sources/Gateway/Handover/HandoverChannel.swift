public import EventLoop
import Foundation
public import Sockets

/// One end of the connection between two processes of a gateway, on the control loop. Confined to it.
public final class HandoverChannel {
    /// Messages that wait for the other side to read, at most; beyond it something is wrong with it.
    static let maximumWaiting = 100_000

    /// Called with each message and the descriptors that came with it.
    public var onMessage: (HandoverMessage, [OwnedDescriptor]) -> Void = { _, _ in }
    /// Called once, when the other side is gone or says what we cannot read.
    public var onClosed: () -> Void = {}
    public private(set) var isClosed = false

    private let descriptor: OwnedDescriptor
    private var waiting: ArraySlice<DescriptorMessage> = []
    private var readWatch: DescriptorWatch?
    private var writeWatch: DescriptorWatch?

    public init(loop: EventLoop, descriptor: OwnedDescriptor) {
        self.descriptor = descriptor
        readWatch = loop.watch(descriptor: descriptor.number, for: .read) { [unowned self] in receive() }
        writeWatch = loop.watch(descriptor: descriptor.number, for: .write) { [unowned self] in flush() }
        writeWatch?.suspend()
    }

    /// Sends in order; what is not taken at once waits. After the end messages go nowhere.
    public func send(_ message: HandoverMessage, _ descriptors: [OwnedDescriptor] = []) {
        guard !isClosed, let encoded = try? DescriptorMessage(message, descriptors) else { return }
        guard waiting.count < Self.maximumWaiting, encoded.bytes.count <= DescriptorMessage.maximumBytes else { return close() }
        waiting.append(encoded)
        flush()
    }

    public func close() {
        guard !isClosed else { return }
        isClosed = true
        readWatch?.cancel()
        writeWatch?.cancel()
        onClosed()
    }

    private func flush() {
        while let message = waiting.first {
            do throws(SystemError) {
                try message.send(over: descriptor)
            } catch {
                guard error.code == EAGAIN else { return close() }
                writeWatch?.resume()
                return
            }
            waiting.removeFirst()
        }
        writeWatch?.suspend()
    }

    private func receive() {
        for _ in 0..<Self.messagesPerTurn where !isClosed {
            do {
                guard let message = try DescriptorMessage.receive(over: descriptor) else { return close() }
                onMessage(try HandoverMessage(message.bytes), message.descriptors)
            } catch let error as SystemError where error.code == EAGAIN {
                return
            } catch {
                return close()
            }
        }
    }

    private static let messagesPerTurn = 64
}

extension HandoverMessage {
    init(_ bytes: [UInt8]) throws { self = try JSONDecoder().decode(HandoverMessage.self, from: Data(bytes)) }
}

extension DescriptorMessage {
    init(_ message: HandoverMessage, _ descriptors: [OwnedDescriptor]) throws {
        self.init(bytes: [UInt8](try JSONEncoder().encode(message)), descriptors: descriptors)
    }
}
