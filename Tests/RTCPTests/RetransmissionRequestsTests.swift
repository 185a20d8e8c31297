import RTCP
import TestSupport
import Testing

@Suite("Retransmission requests")
struct RetransmissionRequestsTests {
    /// 32 NACKs of a compound, each as long as the rest allows.
    @Test func `however much a datagram asks for, look-ups and packets of a turn are bounded`() {
        var requests = RetransmissionRequests()
        for first in 0..<UInt16(32) {
            let entries = (0..<UInt16(100)).map {
                GenericNACK.Entry(packetID: first &* 1_700 &+ $0 &* 17, followingLost: .max)
            }
            requests.add(GenericNACK(senderSSRC: 1, mediaSSRC: 2, entries: entries))
        }
        #expect(requests.count == RetransmissionRequests.maximumWaiting)
        var looked = 0
        requests.serve { _ in
            looked += 1
            return true
        }
        #expect(looked == RetransmissionRequests.maximumPerTurn)
        // Misses cost a look each and no more.
        looked = 0
        requests.serve { _ in
            looked += 1
            return false
        }
        #expect(looked == RetransmissionRequests.maximumWaiting - RetransmissionRequests.maximumPerTurn && requests.isEmpty)
    }

    @Test func `what waits is served in order, and what came meanwhile after it`() {
        var requests = RetransmissionRequests()
        requests.add(GenericNACK(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: Array(65_530...65_535)))
        requests.add(GenericNACK(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: Array(0...19)))
        var served: [UInt16] = []
        while !requests.isEmpty {
            requests.serve {
                served.append($0)
                return true
            }
            if served.count == RetransmissionRequests.maximumPerTurn {
                requests.add(GenericNACK(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: [90]))
            }
        }
        #expect(served == Array(65_530...65_535) + Array(0...19) + [90])
    }
}
