import DTLS
import Foundation
import TestSupport
import Testing
import Wire

/// `openssl s_client` as the peer: another program's handshake, and the keys it exports.
@Suite("DTLS with openssl s_client", .timeLimit(.minutes(10)))
struct OpenSSLClientTests {
    @Test(arguments: [("SRTP_AEAD_AES_128_GCM", 56, 7), ("SRTP_AES128_CM_SHA1_80", 60, 1)])
    func `both sides export the same keys`(_ profile: String, _ length: Int, _ number: UInt16) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "dtls-\(UUID().uuidString)").path()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        _ = Self.shell(
            "cd \(folder) && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k.pem -out c.pem -days 2 -subj /CN=x"
        )
        let print = Self.shell("openssl x509 -in \(folder)/c.pem -noout -fingerprint -sha256").split(separator: "=").last ?? ""
        let fingerprint = print.split(separator: ":").compactMap { UInt8($0.prefix(2), radix: 16) }
        try #require(fingerprint.count == 32)
        let server = try Server(expecting: CertificateFingerprint(hash: "sha-256", bytes: fingerprint))
        let client = Process()
        client.executableURL = URL(filePath: "/bin/sh")
        client.arguments = [
            "-c",
            "timeout 120 openssl s_client -dtls1_2 -use_srtp \(profile) -cert \(folder)/c.pem -key \(folder)/k.pem"
                + " -keymatexport EXTRACTOR-dtls_srtp -keymatexportlen \(length) -connect 127.0.0.1:\(server.port)",
        ]
        let output = Pipe()
        client.standardOutput = output
        // It looks there once the handshake is done and told, and finds the end.
        client.standardInput = FileHandle.nullDevice
        try client.run()
        let event = try server.serve()
        let text = String(decoding: output.readToEnd(), as: UTF8.self)
        client.waitUntilExit()
        guard case .completed(let found, let exported) = event else {
            Issue.record("\(text)")
            return
        }
        #expect(found == number)
        let hex = String(hexadecimal: exported.reveal(), isUppercase: true)
        #expect(text.contains("Keying material: \(hex)"), "\(text)")
    }

    static func shell(_ command: String) -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return "" }
        let data = output.readToEnd()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    /// A DTLS server on a UDP socket of loopback, for one client.
    final class Server {
        private let descriptor: CInt
        let port: UInt16
        private let connection: DTLSConnection

        init(expecting fingerprint: CertificateFingerprint) throws {
            connection = try DTLSConnection(DTLSContext(DTLSCertificate.make()), role: .server, expecting: [fingerprint])
            let number = socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = bind(number, $0, length)
                    _ = getsockname(number, $0, &length)
                }
            }
            (descriptor, port) = (number, UInt16(bigEndian: address.sin_port))
        }

        deinit { close(descriptor) }

        /// Serves until the handshake is done, two minutes at most.
        func serve() throws -> DTLSConnection.Event {
            let end = ContinuousClock.now + .seconds(120)
            while ContinuousClock.now < end {
                var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&poller, 1, 100) > 0 else { continue }
                var buffer = [UInt8](repeating: 0, count: 2_048)
                var peer = sockaddr_in()
                var length = socklen_t(MemoryLayout<sockaddr_in>.size)
                let count = withUnsafeMutablePointer(to: &peer) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        recvfrom(descriptor, &buffer, buffer.count, 0, $0, &length)
                    }
                }
                guard count > 0 else { continue }
                let event = try connection.receive(Array(buffer[..<count]))
                for datagram in connection.takeOutgoing() {
                    _ = withUnsafePointer(to: &peer) {
                        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                            sendto(descriptor, datagram, datagram.count, 0, $0, length)
                        }
                    }
                }
                if event != .none { return event }
            }
            return .none
        }
    }
}
