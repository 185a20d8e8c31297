import SDP
import TestSupport
import Testing

@Suite("Trickle fragment (RFC 8840)")
struct SDPFragmentTests {
    /// The first PATCH of simple-whip-client: an audio m-line although the mid is the video's.
    static let simpleWHIPClient = """
        a=ice-ufrag:HnmoJat1\r
        a=ice-pwd:Vo5N+bwm7bEqUyDFUjaWYA/7gc0guUac\r
        m=audio 9 RTP/AVP 0\r
        a=mid:video0\r
        a=candidate:1 1 UDP 2015363327 192.0.2.2 41023 typ host\r
        a=candidate:2 1 TCP 1015021823 192.0.2.2 9 typ host tcptype active\r
        a=candidate:broken\r\n
        """

    @Test func `reads what simple-whip-client sends and drops unreadable candidates`() throws {
        let fragment = try SDPFragment(parsing: Array(Self.simpleWHIPClient.utf8))
        #expect(fragment.iceUfrag == "HnmoJat1" && fragment.mid == "video0")
        #expect(fragment.candidates.map(\.port) == [41_023, 9])
        #expect(!fragment.isEndOfCandidates)
    }

    @Test func `reads a fragment of nothing but the end`() throws {
        #expect(try SDPFragment(parsing: Array("a=end-of-candidates\r\n".utf8)).isEndOfCandidates)
    }

    @Test func `writes what it reads`() throws {
        var fragment = SDPFragment()
        (fragment.iceUfrag, fragment.icePassword, fragment.mid) = ("abcd", "0123456789012345678901", "0")
        fragment.candidates = [Candidate(attributeValue: "1 1 udp 1 192.0.2.1 9 typ host")!]
        fragment.isEndOfCandidates = true
        let read = try SDPFragment(parsing: Array(fragment.text.utf8), endings: .crlf)
        #expect(read.iceUfrag == "abcd" && read.candidates == fragment.candidates && read.isEndOfCandidates && read.mid == "0")
    }

    @Test(arguments: ["", "hello", "v=0\r\n", "m=audio\r\n", "a=\r\n"])
    func `refuses what is no fragment`(_ text: String) {
        #expect(throws: SDPError.self) { try SDPFragment(parsing: Array(text.utf8)) }
    }

    @Test func `keeps a bounded number of candidates`() throws {
        let line = "a=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n"
        let fragment = try SDPFragment(parsing: Array(String(repeating: line, count: 1_000).utf8))
        #expect(fragment.candidates.count == SDPFragment.maximumCandidateCount)
    }
}
