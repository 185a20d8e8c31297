import ArgumentParser
import EventLoop
import H264
import MediaContract
import Refusals
import Wire

/// `stagedoor-bench contract`: what the media contract's look at each packet costs, without sockets around it.
struct MeasureContract: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contract", abstract: "Measures the media contract's cost per RTP packet on a stream that breaks no rule.")

    @Option(help: "FLV file with H.264.")
    var flv: String
    @Option(help: "How many times the file is looked at, after once that is not measured.")
    var rounds = 20

    /// Of one protocol: CPU time of the thread, and calls for memory where they are counted.
    struct Figure: Encodable {
        var packets: Int
        var nanosecondsPerPacket: Double
        var allocations: Int?
    }

    struct Report: Encodable {
        var whip: Figure
        /// By the RTP packets that its access units become.
        var rtmp: Figure
        /// Allocations while the file was read: nil or 0 where they are not counted.
        var control: Int?
    }

    func run() throws {
        guard rounds > 0 else { throw ValidationError("at least one round") }
        let before = AllocationCount()?.current
        let file = try FLVFile(path: flv)
        let control = before.flatMap { before in AllocationCount().map { $0.current - before } }
        let clip = try RTPClip([file], isPaced: false, isMarked: false)
        let whip = try measure(packetCount: clip.packets.count, ingest: .whip) { session, round in
            Self.packets(of: clip, round: round, session)
        }
        let rtmp = try measure(packetCount: clip.packets.count, ingest: .rtmp) { session, round in
            Self.accessUnits(of: file, round: round, session)
        }
        try print(report: Report(whip: whip, rtmp: rtmp, control: control))
    }

    private struct Refused: Error {}

    /// - Parameter pass: looks at the whole file once; false when the contract refused it.
    private func measure(
        packetCount: Int, ingest: ContractMonitor.Ingest, _ pass: (ContractSession, Int) -> Bool
    ) throws -> Figure {
        let publisher = ContractPublisher(credential: "", source: .loopback, product: "stagedoor-bench")
        let session = ContractSession(context: ContractContext(), ingest: ingest, publisher: publisher)
        guard pass(session, 0) else { throw Refused() }
        let allocations = AllocationCount()
        let (start, countBefore) = (EventLoop.threadCPU(), allocations?.current)
        for round in 1...rounds { guard Self.counted(pass, session, round) else { throw Refused() } }
        let (end, countAfter) = (EventLoop.threadCPU(), allocations?.current)
        let packets = packetCount * rounds
        return Figure(
            packets: packets, nanosecondsPerPacket: Double((end - start).nanoseconds) / Double(packets),
            allocations: countBefore.flatMap { before in countAfter.map { $0 - before } })
    }

    /// A round that callgrind counts: it is told to look at nothing else (`--toggle-collect`).
    @inline(never) private static func counted(
        _ pass: (ContractSession, Int) -> Bool, _ session: ContractSession, _ round: Int
    ) -> Bool { pass(session, round) }

    private static func packets(of clip: RTPClip, round: Int, _ session: ContractSession) -> Bool {
        var number = Int64(round * clip.packets.count)
        var found = NALUnitList()
        for packet in clip.packets {
            let arrival = arrival(round: round, clip.duration, packet.due)
            let refusal =
                switch packet.track {
                case .video:
                    unsafe packet.payload.withUnsafeBytes {
                        unsafe found.find(inPayload: $0)
                        return session.videoPayload(
                            found, sequenceNumber: number,
                            timestamp: Int64(packet.timestamp) + Int64(round * clip.duration * 90), arrival: arrival)
                    }
                case .audio:
                    session.audioFrame(
                        byteCount: packet.payload.count,
                        timestamp: Int64(packet.timestamp) + Int64(round * clip.duration * 48), arrival: arrival)
                }
            if refusal != nil { return false }
            if packet.track == .video { number += 1 }
        }
        return true
    }

    private static func accessUnits(of file: FLVFile, round: Int, _ session: ContractSession) -> Bool {
        var found = NALUnitList()
        for tag in file.tags where tag.kind != .script {
            let arrival = arrival(round: round, file.duration, Int64(tag.timestamp) * 1_000_000)
            let milliseconds = Int64(round * file.duration + tag.timestamp)
            let refusal =
                switch tag.kind {
                case .audio: session.audioFrame(byteCount: tag.body.count, timestamp: milliseconds * 48, arrival: arrival)
                case .video where tag.isSequenceHeader: configure(session, tag, milliseconds, arrival)
                default:
                    unsafe tag.body.withUnsafeBytes {
                        unsafe found.find(inAccessUnit: UnsafeRawBufferPointer(rebasing: $0.dropFirst(5)), lengthSize: 4)
                        return session.accessUnit(found, timestamp: milliseconds * 90, arrival: arrival)
                    }
                }
            if refusal != nil { return false }
        }
        return true
    }

    /// Parameter sets come once, as encoders send them.
    private static func configure(
        _ session: ContractSession, _ tag: FLVFile.Tag, _ milliseconds: Int64, _ arrival: MonotonicTime
    ) -> Refusal? {
        guard milliseconds < 1_000,
            let record = try? unsafe AVCDecoderConfigurationRecord(parsing: Array(tag.body.dropFirst(5)).span.bytes)
        else { return nil }
        let sets = record.sequenceParameterSets + record.pictureParameterSets
        return session.videoConfigured(sets, arrival: arrival)
    }

    private static func arrival(round: Int, _ duration: Int, _ due: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000 + Int64(round * duration) * 1_000_000 + due)
    }
}
