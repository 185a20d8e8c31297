import FLV
import H264
import JWT
import RTMP
import RTP
import SDP
import Wire

/// One coded picture of a single slice as the body of an FLV tag.
enum SyntheticFrame {
    static func body(byteCount: Int, isKeyframe: Bool) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(contentsOf: [isKeyframe ? 0x17 : 0x27, 1, 0, 0, 0])
        writer.write(UInt32(byteCount))
        writer.write(contentsOf: [isKeyframe ? 0x65 : 0x41, isKeyframe ? 0x88 : 0x9A])
        return writer.bytes + [UInt8](repeating: 0x5A, count: byteCount - 2)
    }

    static let second = (0..<30).map { body(byteCount: 10_400, isKeyframe: $0 == 0) }
}

/// Messages put together from chunks of 4,096 bytes, in reads of 16 kB.
final class ChunkStreamStep: MediaStep {
    let operations = 30
    private var reader = ChunkReader(limits: .publishing)
    private let bytes: [UInt8]

    init() {
        var writer = ChunkWriter()
        writer.chunkSize = 4_096
        var bytes: [UInt8] = []
        writer.write(type: 1, chunkStreamID: 2, payload: [0, 0, 16, 0], into: &bytes)
        for frame in SyntheticFrame.second { writer.write(type: 9, streamID: 1, chunkStreamID: 6, payload: frame, into: &bytes) }
        self.bytes = bytes
    }

    func round() throws {
        try unsafe bytes.withUnsafeBytes { all in
            var (position, end) = (0, 0)
            while end < all.count {
                end = min(all.count, end + 16_384)
                var offset = 0
                let input = unsafe UnsafeRawBufferPointer(rebasing: all[position..<end])
                while try unsafe reader.next(in: input, at: &offset) != nil {}
                position += offset
            }
        }
    }
}

/// Tags opened, access units walked and cut into RTP payloads.
final class AccessUnitStep: MediaStep {
    let operations = 30
    private var packetizer = H264Packetizer()
    private(set) var payloadCount = 0

    init() { packetizer.setParameterSets([[0x67, 0x42, 0xC0, 0x1F], [0x68, 0xCE]]) }

    func round() throws {
        for frame in SyntheticFrame.second {
            try unsafe frame.withUnsafeBytes { message in
                let tag = try unsafe VideoTag(parsing: message.bytes)
                var units = unsafe AVCCUnits(UnsafeRawBufferPointer(rebasing: message[tag.body]), lengthSize: 4)
                while let unit = try unsafe units.next() { unsafe packetizer.append(unit) { _ in payloadCount += 1 } }
                packetizer.finish { _ in payloadCount += 1 }
            }
        }
    }
}

/// RTP headers read and written anew.
final class HeaderStep: MediaStep {
    let operations = 355
    private var packet = [UInt8](repeating: 0x5A, count: 1_200)

    init() { packet.replaceSubrange(0..<12, with: [0x80, 96, 0, 1, 0, 0, 0, 1, 0, 0, 0, 77]) }

    func round() throws {
        try unsafe packet.withUnsafeMutableBytes { bytes in
            for _ in 0..<operations {
                let header = try unsafe RTPHeader(parsing: UnsafeRawBufferPointer(bytes).bytes)
                let next = RTPHeader(
                    marker: header.marker, payloadType: header.payloadType, sequenceNumber: header.sequenceNumber &+ 1,
                    timestamp: header.timestamp, ssrc: header.ssrc)
                if let start = bytes.baseAddress { unsafe next.writeFixed(into: start) }
            }
        }
    }
}

/// An offer read, as a browser makes it: two sections, some codecs each.
final class OfferStep: MediaStep {
    let operations = 1
    private let offer: [UInt8]

    init() {
        let codecs = (96..<126).map {
            "a=rtpmap:\($0) H264/90000\r\na=rtcp-fb:\($0) nack pli\r\na=fmtp:\($0) packetization-mode=1"
        }
        let session = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0 1", "a=ice-ufrag:abcd"]
        let audio = ["m=audio 9 UDP/TLS/RTP/SAVPF 111", "c=IN IP4 0.0.0.0", "a=mid:0", "a=rtpmap:111 opus/48000/2", "a=sendonly"]
        let video =
            ["m=video 9 UDP/TLS/RTP/SAVPF " + (96..<126).map(String.init).joined(separator: " "), "c=IN IP4 0.0.0.0", "a=mid:1"]
            + codecs
        offer = Array(((session + audio + video).joined(separator: "\r\n") + "\r\n").utf8)
    }

    func round() throws { _ = try SessionDescription(parsing: offer) }
}

/// A participant token taken apart and its claims read, all but the signature's verification (`stagedoor-bench tokens`).
final class TokenStep: MediaStep {
    let operations = 1
    private let token: [UInt8]

    init() {
        let arn = "arn:aws:ivs:us-east-1:123456789012:stage/AbCdEfGhIjKl"
        let claims = ParticipantClaims(
            participantID: "PaRtIcIpAnT0", stageARN: arn, stageID: "AbCdEfGhIjKl", issuedAt: 1_790_000_000,
            expiresAt: 1_790_043_200, eventsURL: "wss://gateway.example/events", whipURL: "https://gateway.example/whip",
            allowsPublish: true, allowsSubscribe: true, userID: "somebody", attributes: ["seat": "12"])
        token = CompactToken.serialized(
            signingInput: CompactToken.signingInput(keyID: arn, payload: claims.payload),
            signature: [UInt8](repeating: 0x5A, count: CompactToken.signatureLength))
    }

    func round() throws { _ = try ParticipantClaims(parsing: CompactToken(parsing: token).payload) }
}
