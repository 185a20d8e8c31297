import ArgumentParser
import EventLoop
import Foundation
import HTTPClient
import RouterForwarding
import Wire

/// For authors of stage routers: does this router keep to docs/stage-router.md?
struct RouterCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "router-check",
        abstract: "Announces a participant to a stage router, sends it a second of media, and says which rules it keeps.")

    @Argument(help: "The router's URL, as in the configuration: http://127.0.0.1:9000")
    var url: String

    @Option(help: "The bearer token of the router's control port.")
    var token: String?

    @Option(help: "Networks that the router's answer may send media to.")
    var media: [String] = ["127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "::1/128"]

    func run() throws {
        let networks = try media.map { text in
            guard let network = IPNetwork(text) else { throw ValidationError("“\(text)” is no network") }
            return network
        }
        let loop = try EventLoop()
        let check = RouterConformance(
            loop: loop, url: url, bearer: token.map { Secret($0) }, media: networks,
            http: RouterHTTPClient(HTTPClient(loop: loop), router: "router"))
        let isConformant = try check.run()
        for finding in check.findings {
            Swift.print("\(finding.isMet ? "ok  " : "FAIL")  §\(finding.section) \(finding.rule)\(Self.suffix(finding.detail))")
        }
        if !isConformant { throw ExitCode(1) }
    }

    private static func suffix(_ detail: String) -> String { detail.isEmpty ? "" : " (\(detail))" }
}
