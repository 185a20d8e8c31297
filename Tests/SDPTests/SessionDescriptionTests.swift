import SDP
import TestSupport
import Testing

@Suite("Session description (RFC 8866)")
struct SessionDescriptionTests {
    static let minimal = "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n"

    @Test(arguments: OfferFixture.all)
    func `reads and writes back every captured offer byte for byte`(_ offer: OfferFixture) throws {
        let description = try SessionDescription(parsing: offer.body, endings: .crlf)
        #expect(description.text == String(decoding: offer.body, as: UTF8.self))
        #expect(!description.media.isEmpty)
    }

    @Test func `finds all captured offers`() { #expect(OfferFixture.all.count == 31) }

    @Test func `reads the sections of OBS's offer`() throws {
        let description = try SessionDescription(parsing: OfferFixture.named("obs-32.2.2-ldc0.21.0").body)
        #expect(description.attributes.value(of: "setup") == "actpass")
        #expect(description.attributes.first(MediaGroup.self)?.mids == ["0", "1"])
        let video = description.media[1]
        #expect(video.media == "video" && video.port == 9 && video.mid == "1" && video.payloadTypes == [96])
        #expect(video.direction == .sendonly)
        #expect(video.feedback(of: 96) == ["nack", "nack pli", "goog-remb"])
        #expect(video.formatParameters[96]?["Profile-Level-ID"] == "42e01f")
    }

    @Test func `of the parameters of a payload type the first line holds`() throws {
        let text = Self.minimal + "m=video 9 RTP/AVP 96 97\r\na=fmtp:97 apt=96\r\na=fmtp:96 a=1\r\na=fmtp:96 a=2\r\n"
        let parameters = try SessionDescription(parsing: Array(text.utf8)).media[0].formatParameters
        #expect(parameters.count == 2 && parameters[96]?["a"] == "1" && parameters[97]?["apt"] == "96")
    }

    @Test func `takes lines that end in LF alone unless CRLF is demanded`() throws {
        let text = Array(Self.minimal.replacing("\r\n", with: "\n").utf8)
        #expect(try SessionDescription(parsing: text).sessionName == "-")
        #expect(throws: SDPError.malformedText(line: 1)) { try SessionDescription(parsing: text, endings: .crlf) }
        #expect("\(SDPError.malformedText(line: 1))" == "line 1 does not end in CRLF, or is no UTF-8")
    }

    /// What is read is written with CRLF, and has to be read again.
    @Test func `a line may be as long however it ends`() throws {
        let title = String(repeating: "\u{E9}", count: 127)
        let text = Self.minimal.replacing("\r\n", with: "\n").replacing("s=-", with: "s=" + title)
        let description = try SessionDescription(parsing: Array(text.utf8))
        #expect(description.sessionName == title)
        #expect(try SessionDescription(parsing: Array(description.text.utf8)) == description)
    }

    static let refused: [(String, SDPError)] = [
        ("", .malformedLine(line: 1)),
        ("{}", .malformedLine(line: 1)),
        ("\u{FEFF}" + minimal, .malformedLine(line: 1)),
        ("v=1\r\n", .unsupportedVersion),
        ("v=0\r\ns=-\r\n", .missingOrigin),
        ("v=0\r\no=- 1 2 IN IP4\r\n", .malformedLine(line: 2)),
        (minimal + "\r\nm=audio 9 RTP/AVP 0\r\n", .malformedLine(line: 5)),
        (minimal + "x=1\r\n", .malformedLine(line: 5)),
        (minimal + "a=\r\n", .malformedLine(line: 5)),
        (minimal + "a=\u{301}:1\r\n", .malformedLine(line: 5)),
        (minimal + "a=b\0c\r\n", .malformedText(line: 5)),
        (minimal + "a=b\rc\r\n", .malformedText(line: 5)),
        (minimal + "m=audio 99999 RTP/AVP 0\r\n", .malformedLine(line: 5)),
        (minimal + "m=audio 9 RTP/AVP\r\n", .malformedLine(line: 5)),
        (minimal + "b=AS:-1\r\n", .malformedLine(line: 5)),
        (minimal + "a=" + String(repeating: "x", count: 5_000) + "\r\n", .lineTooLong(line: 5)),
        (minimal + "a=mid:" + String(repeating: "\u{301}\u{316}", count: 64) + "\r\n", .lineTooLong(line: 5)),
        (minimal + String(repeating: "m=audio 9 RTP/AVP 0\r\n", count: 33), .tooManyMediaDescriptions),
        (minimal + String(repeating: "a=x\r\n", count: 2_048), .tooManyLines),
        (minimal + String(repeating: "a=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n", count: 2_000), .tooLarge),
    ]

    @Test(arguments: refused.indices)
    func `refuses what is malformed or too much`(_ index: Int) {
        let (text, error) = Self.refused[index]
        #expect(throws: error) { try SessionDescription(parsing: Array(text.utf8)) }
    }

    @Test func `refuses invalid UTF-8`() {
        #expect(throws: SDPError.malformedText(line: 5)) {
            try SessionDescription(parsing: Array(Self.minimal.utf8) + [97, 61, 0xC0, 0x80, 13, 10])
        }
    }

    @Test(arguments: OfferFixture.all)
    func `reads or refuses cut offers and never traps`(_ offer: OfferFixture) {
        for count in stride(from: 0, to: offer.body.count, by: 13) {
            _ = try? SessionDescription(parsing: Array(offer.body[..<count]))
        }
    }
}
