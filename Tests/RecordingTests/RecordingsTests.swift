import Dispatch
import EventLoop
import Foundation
import GatewayMetrics
import ObjectStorage
import StageHub
import TestSupport
import Testing
import Wire

@testable import Recording

/// Stores as another director does, a while after it was asked, and answers on another thread.
private final class SlowDirector: RecordingDirector {
    let memory = MemoryDirector()

    func plan(for participant: RecordedParticipant, isReplica: Bool) -> RecordingPlan? {
        memory.plan(for: participant, isReplica: isReplica)
    }
    func documents(of recording: RecordingSummary) -> [StoredObject] { memory.documents(of: recording) }
    func changed(_ recording: RecordingSummary) { memory.changed(recording) }

    func put(_ upload: Upload) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { [memory] in memory.put(upload) }
    }
}

/// Has nothing until it is told to, as a store that is silent.
private final class HoldingDirector: RecordingDirector {
    let memory = MemoryDirector()
    /// Nil when it holds nothing back any more.
    private let held = Lock<[Upload]?>([])

    func plan(for participant: RecordedParticipant, isReplica: Bool) -> RecordingPlan? {
        memory.plan(for: participant, isReplica: isReplica)
    }
    func documents(of recording: RecordingSummary) -> [StoredObject] { memory.documents(of: recording) }
    func changed(_ recording: RecordingSummary) { memory.changed(recording) }

    func put(_ upload: Upload) {
        let isHeld = held.withLock { held in
            held?.append(upload)
            return held != nil
        }
        if !isHeld { memory.put(upload) }
    }

    func release() {
        let uploads = held.withLock { $0.take() }
        for upload in uploads ?? [] { memory.put(upload) }
    }
}

@Suite("The recorder's thread")
struct RecordingsTests {
    /// A former process has left a recording whose every file is still to be stored when the node is told to end.
    @Test(.timeLimit(.minutes(5)))
    func `what is on its way at the end is waited for, and the end comes`() throws {
        let folder = try TemporaryDirectory()
        try RecordingTests().leaveRecording(in: "\(folder.path)/spool")
        let director = SlowDirector()
        let recordings = try Recordings(
            spool: "\(folder.path)/spool", maximumByteCount: 1 << 20, director: director, metrics: MetricsRegistry())
        recordings.stop()
        #expect(director.memory.content.withLock { $0.keys.last } == "events/ended")
        #expect(director.memory.content.withLock { $0.states } == [.stopping, .active, .stopped])
    }

    /// What was recorded has waited for some years by its dates, though it was handed over just now.
    @Test(.timeLimit(.minutes(5)))
    func `how long the oldest segment has waited is told until its bucket has it`() throws {
        let folder = try TemporaryDirectory()
        try RecordingTests().leaveRecording(in: "\(folder.path)/spool")
        let (director, registry) = (HoldingDirector(), MetricsRegistry())
        let recordings = try Recordings(
            spool: "\(folder.path)/spool", maximumByteCount: 1 << 20, director: director, metrics: registry)
        defer { recordings.stop() }
        func lag() -> Double { registry.gauge("stagedoor_upload_lag_seconds", "Made before.").value }
        #expect(waitUntil { lag() > 86_400 })
        director.release()
        #expect(waitUntil { director.memory.content.withLock { $0.states.last } == .stopped })
        #expect(waitUntil { lag() == 0 })
    }

    /// As a full disk does: the journals of two folders cannot be opened until something is put right.
    @Test(.timeLimit(.minutes(5)))
    func `recordings that the disk did not let be taken up are taken up later`() throws {
        let folder = try TemporaryDirectory()
        let spool = "\(folder.path)/spool"
        for _ in 0..<3 { try RecordingTests().leaveRecording(in: spool) }
        let refused = try FileManager.default.contentsOfDirectory(atPath: spool).sorted().prefix(2)
        try #require(refused.count == 2)
        for name in refused {
            let journal = "\(spool)/\(name)/journal"
            try FileManager.default.moveItem(atPath: journal, toPath: "\(folder.path)/\(name)")
            try FileManager.default.createSymbolicLink(atPath: journal, withDestinationPath: "\(folder.path)/nowhere")
        }
        let director = MemoryDirector()
        let recordings = try Recordings(spool: spool, maximumByteCount: 1 << 20, director: director, metrics: MetricsRegistry())
        defer { recordings.stop() }
        func waitUntilStored(_ count: Int) -> Bool {
            waitUntil(within: .seconds(120)) { director.content.withLock { $0.states.count { $0 == .stopped } } == count }
        }
        // Folders are looked at in the order of their names: the first ones have been refused by then.
        #expect(waitUntilStored(1))
        for name in refused { #expect(rename("\(folder.path)/\(name)", "\(spool)/\(name)/journal") == 0) }
        #expect(waitUntilStored(3))
    }

    @Test func `a spool that cannot be made keeps the recorder from starting`() {
        #expect(throws: SystemError(call: "mkdir /dev/null/spool", code: ENOTDIR)) {
            try Recordings(
                spool: "/dev/null/spool", maximumByteCount: 1 << 20, director: MemoryDirector(), metrics: MetricsRegistry())
        }
    }
}
