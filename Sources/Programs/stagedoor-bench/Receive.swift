import ArgumentParser
import EventLoop
import Foundation
import Sockets
import Wire

/// `stagedoor-bench receive`: takes RTP as a stage router would, and says what came and what did not.
struct Receive: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive", abstract: "Receives RTP on many ports; counts losses and measures marks.")

    @Option(help: "Ports to bind: 5004, or 5004-5103.")
    var ports: String
    @Option(help: "Address to bind.")
    var address = "127.0.0.1"
    @Option(help: "Bind every second port only: RTP with RTCP on the same port.")
    var step = 2
    @Option(help: "How long, in seconds; SIGINT ends it earlier, once what has come is read.")
    var seconds = 10.0
    @Option(help: "End when nothing has come for so many seconds after something had.")
    var idle: Double?
    @Flag(help: "Look every 2 ms instead of at every packet: sending then wakes nobody, as through a network card.")
    var rests = false
    @Option(help: "A server process whose CPU and memory are reported.")
    var pid: Int32?
    @Option(help: "Says 'heard' once so many sources have sent, and a mark has come.")
    var sources: Int?

    struct Report: Encodable {
        var sources = 0
        var received = 0
        var lost = 0
        var reordered = 0
        var duplicates = 0
        var malformed = 0
        var bytes = 0
        var senderReports = 0
        var byes = 0
        /// Dropped by the kernel because this process was late: not the server's loss.
        var droppedByKernel = 0
        var firstPacketMilliseconds = Percentiles.Summary()
        var lastPacketMilliseconds = Percentiles.Summary()
        var process: ProcessUse?
    }

    func run() throws {
        guard let ip = IPAddress(address), let range = portRange() else { throw ValidationError("no such address or ports") }
        let loop = try EventLoop()
        if rests { loop.longestRest = .milliseconds(2) }
        let receiver = try Receiver(
            loop: loop,
            addresses: stride(from: range.lowerBound, through: range.upperBound, by: step).map { SocketAddress(ip, port: $0) })
        let start = EventLoop.monotonicNow()
        let before = pid.flatMap(ProcessFigures.init)
        let ends = loop.schedule(after: .seconds(seconds)) { loop.stop() }
        var rest: TimerWatch?
        let interrupts = [SIGINT, SIGTERM].map { loop.watchSignal($0) { rest = stopOnceRead(receiver, on: loop) } }
        let idles = idle.map { idle in
            loop.schedule(after: .milliseconds(100), repeating: .milliseconds(100)) {
                if let last = receiver.lastArrival, (loop.now - last).inSeconds > idle { loop.stop() }
            }
        }
        let hears = sources.map { sources in tell("heard", once: { receiver.hasHeard(sources) }, on: loop) }
        tell("receiving")
        loop.run()
        withExtendedLifetime((ends, interrupts, rest, idles, hears)) {}
        var report = receiver.report
        report.process = ProcessUse(
            before: before, pid: pid, seconds: (EventLoop.monotonicNow() - start).inSeconds, streams: nil)
        try print(report: report)
    }

    /// What a process that got no CPU has yet to read came before the signal did. Between two looks each socket is looked at, so
    /// that what waited is read by the last one also where media goes on coming.
    private func stopOnceRead(_ receiver: Receiver, on loop: EventLoop) -> TimerWatch {
        var (before, quietLooks, looks) = (-1, 0, 0)
        return loop.schedule(after: .zero, repeating: .milliseconds(50)) {
            quietLooks = receiver.datagrams == before ? quietLooks + 1 : 0
            (before, looks) = (receiver.datagrams, looks + 1)
            if quietLooks == 2 || looks == Self.maximumLooks { loop.stop() }
        }
    }

    /// Five seconds of them.
    private static let maximumLooks = 100

    private func tell(_ word: String) { FileHandle.standardError.write(Data("\(word)\n".utf8)) }

    private func tell(_ word: String, once holds: @escaping () -> Bool, on loop: EventLoop) -> TimerWatch {
        var isTold = false
        return loop.schedule(after: .milliseconds(20), repeating: .milliseconds(20)) {
            guard !isTold, holds() else { return }
            isTold = true
            tell(word)
        }
    }

    private func portRange() -> ClosedRange<UInt16>? {
        let bounds = ports.split(separator: "-").compactMap { UInt16($0) }
        guard let first = bounds.first, let last = bounds.last, first <= last, step > 0 else { return nil }
        return first...last
    }
}

/// The sockets of a range of ports, each with its sink.
private final class Receiver {
    private(set) var lastArrival: MonotonicTime?
    private(set) var datagrams = 0
    private var sinks: [PacketSink]
    private var sockets: [UDPSocket] = []

    init(loop: EventLoop, addresses: [SocketAddress]) throws {
        sinks = addresses.map { _ in PacketSink() }
        for (index, address) in addresses.enumerated() {
            let socket = try UDPSocket(loop: loop, address: address)
            socket.onDatagrams = { [unowned self] batch in
                let now = EventLoop.monotonicNow()
                lastArrival = now
                datagrams += batch.count
                for datagram in batch { unsafe sinks[index].take(UnsafeRawBufferPointer(datagram.payload), now: now) }
            }
            sockets.append(socket)
        }
    }

    /// Whether so many sources have sent, and a marked access unit was among what came.
    func hasHeard(_ sources: Int) -> Bool {
        sinks.reduce(0) { $0 + $1.sources.count } >= sources && sinks.contains { $0.firstPackets.count > 0 }
    }

    var report: Receive.Report {
        var report = Receive.Report()
        var (first, last) = (Percentiles(), Percentiles())
        for sink in sinks {
            for source in sink.sources.values {
                report.sources += 1
                report.received += source.account.received
                report.lost += source.account.lost
                report.reordered += source.account.reordered
                report.duplicates += source.account.duplicates
                report.bytes += source.bytes
            }
            report.malformed += sink.malformed
            report.senderReports += sink.senderReports
            report.byes += sink.byes
            first.merge(sink.firstPackets)
            last.merge(sink.lastPackets)
        }
        report.droppedByKernel = sockets.reduce(0) { $0 + $1.counters.droppedByKernel }
        report.firstPacketMilliseconds = first.summary
        report.lastPacketMilliseconds = last.summary
        return report
    }
}

/// Takes the RTP and RTCP of one participant's ports and keeps account of every source.
struct PacketSink {
    struct Source {
        var account = SequenceAccount()
        var bytes = 0
        var payloadType: UInt8
        /// Marked access units: RTP timestamp and time of sending of the newest one.
        var marked: (timestamp: UInt32, sentAt: Int64)?
    }

    private(set) var sources: [UInt32: Source] = [:]
    private(set) var senderReports = 0
    private(set) var byes = 0
    private(set) var malformed = 0
    /// From the time of sending to the first and to the last packet of the access unit.
    private(set) var firstPackets = Percentiles()
    private(set) var lastPackets = Percentiles()

    mutating func take(_ packet: UnsafeRawBufferPointer, now: MonotonicTime) {
        guard unsafe packet.count >= 12 || (packet.count >= 8 && isRTCP(packet)), unsafe packet[0] >> 6 == 2 else {
            malformed += 1
            return
        }
        if unsafe isRTCP(packet) { return unsafe takeRTCP(packet) }
        func number(_ offset: Int, _ count: Int) -> UInt32 {
            unsafe packet[offset..<offset + count].reduce(0) { $0 << 8 | UInt32($1) }
        }
        let (ssrc, timestamp) = (number(8, 4), number(4, 4))
        var source = unsafe sources[ssrc] ?? Source(payloadType: packet[1] & 0x7F)
        source.account.add(UInt16(number(2, 2)))
        source.bytes += packet.count
        if let sentAt = unsafe LatencyMark.time(in: UnsafeRawBufferPointer(rebasing: packet[12...])) {
            firstPackets.add(nanoseconds: now.nanoseconds - sentAt)
            source.marked = (timestamp, sentAt)
        }
        if unsafe packet[1] & 0x80 != 0, let marked = source.marked, marked.timestamp == timestamp {
            lastPackets.add(nanoseconds: now.nanoseconds - marked.sentAt)
            source.marked = nil
        }
        sources[ssrc] = source
    }

    /// RTP and RTCP on one port are told apart by the second byte (RFC 5761 §4).
    private func isRTCP(_ packet: UnsafeRawBufferPointer) -> Bool { unsafe (192...223).contains(packet[1]) }

    private mutating func takeRTCP(_ compound: UnsafeRawBufferPointer) {
        var offset = 0
        while offset + 4 <= compound.count {
            if unsafe compound[offset + 1] == 200 { senderReports += 1 }
            if unsafe compound[offset + 1] == 203 { byes += 1 }
            unsafe offset += 4 * (1 + (Int(compound[offset + 2]) << 8 | Int(compound[offset + 3])))
        }
    }
}

/// What happened to the packets of one RTP source, by their sequence numbers (RFC 3550 appendix A.1).
struct SequenceAccount {
    /// How far back a late packet is still told from a duplicate.
    static let window = 1_024

    private(set) var received = 0
    private(set) var duplicates = 0
    private(set) var reordered = 0
    private var first: Int?
    private var highest = 0
    private var isSeen = [Bool](repeating: false, count: window)

    /// Numbers that never came, up to the highest one.
    var lost: Int { first.map { highest - $0 + 1 - received } ?? 0 }

    mutating func add(_ sequenceNumber: UInt16) {
        guard let first else {
            // One round up, so that those before it have a place.
            (highest, received) = ((1 << 16) + Int(sequenceNumber), 1)
            self.first = highest
            isSeen[highest % Self.window] = true
            return
        }
        let number = highest + Int(Int16(truncatingIfNeeded: Int(sequenceNumber) - highest))
        if number > highest {
            for skipped in max(highest + 1, number - Self.window + 1)...number { isSeen[skipped % Self.window] = false }
            highest = number
        } else if number <= highest - Self.window || isSeen[number % Self.window] {
            duplicates += 1
            return
        } else {
            // Also the very first ones may change places, as where a peer's packets come by two ways.
            self.first = min(first, number)
            reordered += 1
        }
        isSeen[number % Self.window] = true
        received += 1
    }
}
