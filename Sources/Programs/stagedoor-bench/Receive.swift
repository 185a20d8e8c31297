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
    @Option(help: "How long, in seconds; SIGINT ends it earlier.")
    var seconds = 10.0
    @Option(help: "End when nothing has come for so many seconds after something had.")
    var idle: Double?
    @Flag(help: "Look every 2 to 4 ms instead of at every packet: sending then wakes nobody, as through a network card.")
    var rests = false
    @Option(help: "A server process whose CPU and memory are reported.")
    var pid: Int32?

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
        loop.moderatesWakeUps = rests
        let receiver = try Receiver(
            loop: loop,
            addresses: stride(from: range.lowerBound, through: range.upperBound, by: step).map { SocketAddress(ip, port: $0) })
        let start = EventLoop.monotonicNow()
        let before = pid.flatMap(ProcessFigures.init)
        let ends = loop.schedule(after: .seconds(seconds)) { loop.stop() }
        let interrupts = [SIGINT, SIGTERM].map { loop.watchSignal($0) { loop.stop() } }
        let idles = idle.map { idle in
            loop.schedule(after: .milliseconds(100), repeating: .milliseconds(100)) {
                if let last = receiver.lastArrival, (loop.now - last).inSeconds > idle { loop.stop() }
            }
        }
        FileHandle.standardError.write(Data("receiving\n".utf8))
        loop.run()
        withExtendedLifetime((ends, interrupts, idles)) {}
        var report = receiver.report
        report.process = ProcessUse(
            before: before, pid: pid, seconds: (EventLoop.monotonicNow() - start).inSeconds, streams: nil)
        try print(report: report)
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
    private var sinks: [PacketSink]
    private var sockets: [UDPSocket] = []

    init(loop: EventLoop, addresses: [SocketAddress]) throws {
        sinks = addresses.map { _ in PacketSink() }
        for (index, address) in addresses.enumerated() {
            let socket = try UDPSocket(loop: loop, address: address)
            socket.onDatagrams = { [unowned self] batch in
                let now = EventLoop.monotonicNow()
                lastArrival = now
                for datagram in batch { sinks[index].take(UnsafeRawBufferPointer(datagram.payload), now: now) }
            }
            sockets.append(socket)
        }
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
