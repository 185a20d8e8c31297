import Foundation

/// PEM files of an authority, and of a server and a node that it vouches for, made by the `openssl` program.
struct RedisCertificateFiles {
    private let folder = Workspace.temporaryFile(suffix: ".tls")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try make("ca", "/CN=An operator's authority")
        try make(
            "server", "/CN=localhost",
            ["-CA", path("ca.pem"), "-CAkey", path("ca.key"), "-addext", "subjectAltName=DNS:localhost"])
        try make("node", "/CN=a node", ["-CA", path("ca.pem"), "-CAkey", path("ca.key")])
    }

    func path(_ name: String) -> String { folder.appending(path: name).path }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    /// What redis-server needs to speak TLS with those who show a certificate; as its manual advises, it asks everybody for one.
    func serverConfiguration(port: UInt16) -> [String] {
        [
            "tls-port \(port)", "tls-cert-file \(path("server.pem"))", "tls-key-file \(path("server.key"))",
            "tls-ca-cert-file \(path("ca.pem"))", "tls-auth-clients yes",
        ]
    }

    private func make(_ name: String, _ subject: String, _ options: [String] = []) throws {
        let request = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
        ]
        let files = ["-subj", subject, "-keyout", path("\(name).key"), "-out", path("\(name).pem")]
        _ = try ProgramRun.output(of: request + files + options, within: .seconds(60))
    }
}
