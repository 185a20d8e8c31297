import Refusals
import StageHub
import TestSupport
import Testing
import Wire

@testable import WHIPIngest

@Suite("WHIP and the media contract", .serialized, .timeLimit(.minutes(10)))
struct ContractTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var code: RefusalCode?
        var sps = SPSBuilder()
        var pps = PPSBuilder()
        /// slice_type of every third picture.
        var sliceType = 5
        var bytesPerPicture = 3_000

        init(_ name: String, _ code: RefusalCode?, _ change: (inout Case) -> Void = { _ in }) {
            (testDescription, self.code) = (name, code)
            change(&self)
        }
    }

    static let cases: [Case] = [
        Case("Baseline 720p", nil),
        Case("B-frames", .bFrames) { ($0.sps.profileIDC, $0.sliceType) = (77, 6) },
        Case("Main", .videoProfile) { $0.sps.profileIDC = 77 },
        Case("High", .videoProfile) { $0.sps.profileIDC = 100 },
        Case("interlaced", .interlacedVideo) { $0.sps.isProgressive = false },
        Case("1080p", .resolutionExceeded) { ($0.sps.width, $0.sps.height) = (1_920, 1_080) },
        Case("slice groups", .sliceStructure) { $0.pps.sliceGroupCount = 2 },
        Case("12 Mbit/s", .bitrateExceeded) { $0.bytesPerPicture = 50_000 },
    ]

    @Test(arguments: cases)
    func `ends with the code of what it broke, and DTLS is closed`(_ item: Case) throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let client = try #require(try TestClient.connected("alice", to: gateway))
        for number in 0..<120 where gateway.output["alice"]?.ended == nil {
            send(picture: number, of: item, from: client)
            client.pump()
        }
        guard let code = item.code else {
            #expect(eventually { (gateway.output["alice"]?.keyframes ?? 0) == 2 })
            return #expect(gateway.output["alice"]?.ended == nil)
        }
        let isEnded = eventually {
            if case .refused(let refusal) = gateway.output["alice"]?.ended { return refusal.code == code }
            return false
        }
        #expect(isEnded, "\(String(describing: gateway.output["alice"]?.ended))")
        let isClosed = eventually {
            client.pump()
            return client.isClosedByPeer
        }
        #expect(isClosed)
        #expect(eventually { gateway.leases.liveCount == 0 })
    }

    @Test func `a stream without parameter sets is told which settings bring them`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let client = try #require(try TestClient.connected("alice", to: gateway))
        let isEnded = eventually {
            client.timestamp &+= 3_000
            client.send(payload: SliceBuilder(isIDR: true, type: 7, byteCount: 200).bytes, marker: true)
            client.pump(within: 33)
            return gateway.output["alice"]?.ended != nil
        }
        guard isEnded, case .refused(let refusal)? = gateway.output["alice"]?.ended else {
            Issue.record("\(String(describing: gateway.output["alice"]?.ended))")
            return
        }
        #expect(refusal.code == .videoCodec && refusal.sentence.contains("h264parse config-interval=-1"))
    }

    @Test func `what comes late is judged too`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let client = try #require(try TestClient.connected("alice", to: gateway))
        // Every B slice comes after its successor: what comes in order has nothing wrong with it.
        send(picture: 0, of: Case("", nil), from: client)
        for _ in 0..<30 where gateway.output["alice"]?.ended == nil {
            let number = client.sequenceNumber
            for (offset, type) in [(UInt16(1), 5), (0, 6)] {
                client.timestamp &+= 3_000
                client.sequenceNumber = number &+ offset
                client.send(payload: SliceBuilder(type: type, byteCount: 200).bytes, marker: true)
                client.pump()
            }
            client.sequenceNumber = number &+ 2
        }
        let isEnded = eventually {
            if case .refused(let refusal) = gateway.output["alice"]?.ended { return refusal.code == .bFrames }
            return false
        }
        #expect(isEnded)
    }

    /// 30 pictures a second by their stamps, as fast as they can be sent.
    private func send(picture number: Int, of item: Case, from client: TestClient) {
        let isIDR = number % 60 == 0
        client.timestamp &+= 3_000
        if isIDR { for set in [item.sps.bytes, item.pps.bytes] { client.send(payload: set, marker: false) } }
        let type = number % 3 == 0 ? 5 : item.sliceType
        let slice = SliceBuilder(isIDR: isIDR, type: type, byteCount: item.bytesPerPicture).bytes
        let bodies = ByteFeeder.pieces(of: Array(slice.dropFirst()), size: 1_150)
        for (index, body) in bodies.enumerated() {
            let isLast = index == bodies.count - 1
            let flags: UInt8 = index == 0 ? 0x80 : isLast ? 0x40 : 0
            client.send(payload: [slice[0] & 0xE0 | 28, flags | slice[0] & 0x1F] + body, marker: isLast)
        }
    }
}
