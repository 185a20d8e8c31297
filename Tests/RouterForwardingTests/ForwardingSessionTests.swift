import StageHub
import Testing

@testable import RouterForwarding

@Suite("Forwarding session", .timeLimit(.minutes(10)))
struct ForwardingSessionTests {
    @Test func `of parameter sets that differ in every picture routers are told some, and at last those that stay`() throws {
        let bench = try Bench()
        let publication = bench.publication
        var told: [Announcement] = []
        let session = ForwardingSession(publication, socket: bench.socket, replicas: 1) { event in
            switch event {
            case .ready(let announcement), .changed(let announcement): told.append(announcement)
            case .feedback, .ended: break
            }
        }
        session.start()
        publication.setFormat(.opus(isStereo: true), of: .audio)
        for number in 0..<1_000 { publication.setFormat(Self.format(number), of: .video) }
        #expect(told.first?.formats[.video] == Self.format(0))
        #expect(told.count == 1 + ForwardingSession.maximumChangesAtOnce)
        #expect(bench.wait { told.last?.formats[.video] == Self.format(999) })
        #expect(told.count == 2 + ForwardingSession.maximumChangesAtOnce)
    }

    private static func format(_ number: Int) -> TrackFormat {
        .h264(sps: [0x67, UInt8(number >> 8), UInt8(number & 0xFF), 0x1F], pps: [0x68])
    }
}
