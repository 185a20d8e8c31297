import Foundation
import Testing

extension Interop {
    /// A router behind HTTPS that wants to know who announces, and media under the keys that went that way.
    @Suite struct RouterSecurity {
        /// GStreamer knows AEAD_AES_128_GCM by its srtpdec; every picture must be the encoder's.
        @Test(.timeLimit(.minutes(10)))
        func `GStreamer decodes SRTP in GCM by the key that was announced over mTLS`() throws {
            let site = try Site()
            let gateway = try Gateway(routers: site.settings())
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL)
            #expect(encoder.status(within: .seconds(60)) == 0, "\(encoder.output)")
            let sent = try MediaFile.frameDigests(Clip.p30.file())
            var received: [String] = []
            expect("its pictures come", within: .seconds(60)) {
                received = (try? MediaFile.frameDigests(site.pictures(of: gateway).path)) ?? []
                return received.count >= sent.count - 1
            }
            #expect(received == Array(sent.prefix(received.count)))
            #expect(!gateway.log.contains("inline:"), "no key in the log")
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a receiver with another key sees nothing`() throws {
            let site = try Site(["--wrong-key"])
            let gateway = try Gateway(routers: site.settings())
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: 4)
            #expect(encoder.status(within: .seconds(60)) == 0, "\(encoder.output)")
            expect("it was sent to", within: .seconds(60)) { gateway.log.contains("\"router_announced\"") }
            #expect(try Data(contentsOf: site.pictures(of: gateway)).isEmpty)
            gateway.stop()
        }

        /// What goes wrong, and the words of the log by which an operator finds out.
        enum Fault: String, CaseIterable, Sendable {
            case noClientCertificate, unknownAuthority, wrongBearer, shortKey

            var words: String {
                switch self {
                case .noClientCertificate: "\"router_request_failed\""
                case .unknownAuthority: "certificate is not trusted"
                case .wrongBearer: "it answered 401"
                case .shortKey: "the answer gives no key of ours"
                }
            }
        }

        @Test(.timeLimit(.minutes(10)), arguments: Fault.allCases)
        func `nothing is sent, and the log says why`(_ fault: Fault) throws {
            let site = try Site(fault == .shortKey ? ["--bad-answer"] : [])
            let gateway = try Gateway(routers: site.settings(fault))
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            expect("\(fault.words) in the log\n\(gateway.log.suffix(1_500))", within: .seconds(60)) {
                gateway.log.contains(fault.words)
            }
            letPass(.seconds(1))
            #expect(!gateway.log.contains("\"router_announced\""))
            #expect(try gateway.metrics().sum("stagedoor_forward_packets_total") == 0)
            #expect(((try? Data(contentsOf: site.pictures(of: gateway))) ?? Data()).isEmpty)
            for secret in [Site.bearer, "inline:"] { #expect(!gateway.log.contains(secret)) }
            encoder.kill()
            gateway.stop()
        }

        /// The router, its certificate and that of the gateway.
        struct Site {
            static let bearer = "a-bearer-of-tests"
            let router: StageRouter
            let folder: URL
            private let own: CertificatePair
            private let client: CertificatePair

            init(_ options: [String] = []) throws {
                folder = Workspace.temporaryFile(suffix: ".pictures")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                (own, client) = (try CertificatePair(name: "127.0.0.1"), try CertificatePair(name: "gateway.example"))
                router = try StageRouter(
                    [
                        "--certificate", own.certificate, "--key", own.key, "--clients", client.certificate,
                        "--bearer", Self.bearer, "--decode", folder.path,
                    ] + options)
            }

            func settings(_ fault: Fault? = nil) -> String {
                let authority = (fault == .unknownAuthority ? client : own).certificate
                var more = "srtp: true, certificateAuthority: \"\(authority)\""
                more += ", token: \(fault == .wrongBearer ? "wrong" : Self.bearer)"
                if fault != .noClientCertificate {
                    more += ", certificate: \"\(client.certificate)\", privateKey: \"\(client.key)\""
                }
                return router.settings("a", scheme: "https", more: more)
            }

            func pictures(of gateway: Gateway) -> URL { folder.appending(path: "\(gateway.quickstart.participantId).h264") }
        }
    }
}
