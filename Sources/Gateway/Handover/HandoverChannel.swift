public import EventLoop
import Foundation
import HandoverCodec
public import Sockets

/// One end of the connection between two processes of a gateway, on the control loop. Confined to it.
///
/// Both always agree on whether they are connected: what one closes is at its end for the other at once. That the connection is
/// over does not say that the process is; who needs to know that waits for `onGone`.
public final class HandoverChannel {
    /// Bytes that wait for the other side to read, at most; beyond it that one stands still. What peers cause is bounded by
    /// their number, and what is told again and again is left out while something waits (`isBehind`).
    static let maximumWaiting = 128 * 1024 * 1024
    /// Entries of one message, whatever they are; longer lists travel in several.
    static let entriesPerMessage = 64

    /// Called with each message and the descriptors that came with it.
    public var onMessage: (HandoverMessage, [OwnedDescriptor]) -> Void = { _, _ in }
    /// Called once, when the other side is gone, has closed, or says what we cannot read.
    public var onClosed: () -> Void = {}
    /// Called once, after `onClosed`: every process whose life line was followed has ended.
    public var onGone: () -> Void = {}
    public private(set) var isClosed = false
    /// The other side has not yet taken everything.
    public var isBehind: Bool { !waiting.isEmpty }
    /// Of the processes behind this channel that live, to be followed by others too.
    public var lifeLines: [OwnedDescriptor] { lives.map(\.line) }

    private let loop: EventLoop
    private let descriptor: OwnedDescriptor
    private var waiting: ArraySlice<DescriptorMessage> = []
    /// What they take, the frames themselves included.
    private var waitingBytes = 0
    private var frames = MessageFrames()
    private var lives: [(line: OwnedDescriptor, watch: DescriptorWatch)] = []
    private var readWatch: DescriptorWatch?
    private var writeWatch: DescriptorWatch?

    public init(loop: EventLoop, descriptor: OwnedDescriptor) {
        (self.loop, self.descriptor) = (loop, descriptor)
        readWatch = loop.watch(descriptor: descriptor.number, for: .read) { [unowned self] in receive() }
        writeWatch = loop.watch(descriptor: descriptor.number, for: .write) { [unowned self] in flush() }
        writeWatch?.suspend()
    }

    deinit { for life in lives { life.watch.cancel() } }

    /// Sends in order; what is not taken at once waits.
    /// - Returns: false when it goes nowhere: after the end, or when it is too long. Then nothing else has changed.
    @discardableResult
    public func send(_ message: HandoverMessage, _ descriptors: [OwnedDescriptor] = []) -> Bool {
        guard !isClosed, let encoded = MessageCodec.encode(message) else { return false }
        let parts = MessageFrames.cut(encoded, descriptors)
        let size = parts.reduce(0) { $0 + Self.size(of: $1) }
        guard waitingBytes + size <= Self.maximumWaiting else {
            close()
            return false
        }
        waiting += parts
        waitingBytes += size
        flush()
        return !isClosed
    }

    /// Sends a list of any length, in as many messages as it takes.
    public func send<Entry>(_ entries: [Entry], as message: ([Entry]) -> HandoverMessage) {
        for start in stride(from: 0, to: entries.count, by: Self.entriesPerMessage) {
            send(message(Array(entries[start...].prefix(Self.entriesPerMessage))))
        }
    }

    /// Watches for the end of a process that has the other end of a pair as long as it lives, and never sends on it. The kernel
    /// closes it however the process ends.
    public func follow(_ lifeLine: OwnedDescriptor) {
        let watch = loop.watch(descriptor: lifeLine.number, for: .read) { [unowned self] in look(at: lifeLine) }
        lives.append((lifeLine, watch))
    }

    /// Ends the connection for both sides, whoever else has a duplicate of its descriptor.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        readWatch?.cancel()
        writeWatch?.cancel()
        (waiting, waitingBytes) = ([], 0)
        MessageSocket.shutDown(descriptor)
        onClosed()
        if lives.isEmpty { onGone() }
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
            waitingBytes -= Self.size(of: message)
        }
        writeWatch?.suspend()
    }

    private func receive() {
        for _ in 0..<Self.framesPerTurn where !isClosed {
            do {
                guard let frame = try DescriptorMessage.receive(over: descriptor) else { return close() }
                guard let (bytes, descriptors) = try frames.append(frame) else { continue }
                onMessage(try MessageCodec.decode(HandoverMessage.self, from: bytes), descriptors)
            } catch let error as SystemError where error.code == EAGAIN {
                return
            } catch {
                return close()
            }
        }
    }

    private func look(at line: OwnedDescriptor) {
        let isOver: Bool
        do throws(SystemError) {
            isOver = try DescriptorMessage.receive(over: line) == nil
        } catch { isOver = error.code != EAGAIN }
        guard isOver, let index = lives.firstIndex(where: { $0.line === line }) else { return }
        lives.remove(at: index).watch.cancel()
        if isClosed, lives.isEmpty { onGone() }
    }

    private static func size(of frame: DescriptorMessage) -> Int { frame.bytes.count + MemoryLayout<DescriptorMessage>.size }

    private static let framesPerTurn = 64
}
