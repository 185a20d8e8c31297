import Foundation
import Testing

extension Interop {
    /// RTMP over TLS, on the same port.
    @Suite struct RTMPS {
        @Test(.timeLimit(.minutes(10)))
        func `an encoder that verifies trusts quickstart's authority`() throws {
            try expectDelivery(of: .p30) { quickstart in
                try Encoder.ffmpeg(
                    .p30, to: "\(try #require(quickstart.rtmpsURL))/\(quickstart.streamKey)",
                    options: ["-tls_verify", "1", "-ca_file", try #require(quickstart.caCertificate)])
            }
        }

        @Test(.timeLimit(.minutes(10)))
        func `librtmp publishes over TLS`() throws {
            let file = try delivered(.p30) {
                try Encoder.librtmp(.p30, to: "\(try #require($0.rtmpsURL))/\($0.streamKey)", seconds: 4)
            }
            let received = try MediaFile.frameDigests(file)
            #expect(received == Array(try MediaFile.frameDigests(Clip.p30.file()).prefix(received.count)))
            #expect(received.count > 3 * 30)
        }

        @Test(.timeLimit(.minutes(10)))
        func `an encoder that verifies without the authority is not connected`() throws {
            let gateway = try Gateway()
            let url = "\(try #require(gateway.quickstart.rtmpsURL))/\(gateway.quickstart.streamKey)"
            let encoder = try Encoder.ffmpeg(.p30, to: url, options: ["-tls_verify", "1"])
            let status = try #require(encoder.status(within: .seconds(60)))
            #expect(status != 0)
            gateway.stop()
        }
    }
}
