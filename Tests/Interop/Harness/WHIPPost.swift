import Foundation
import TestSupport
import Testing

/// An encoder's offer sent by curl, with quickstart's token.
enum WHIPPost {
    /// - Returns: the status and the URL that gave it.
    static func send(to node: Gateway, _ options: [String] = []) throws -> String {
        let offer = Workspace.temporaryFile(suffix: ".offer")
        try Data(OfferFixture.named("obs-32.2.2-ldc0.21.0").body).write(to: offer)
        return try ProgramRun.output(
            of: [
                "curl", "-sS", "-o", "/dev/null", "-w", "%{http_code} %{url_effective}", "--max-time", "50",
                "-H", "Content-Type: application/sdp", "-H", "Authorization: Bearer \(try #require(node.quickstart.whipToken))",
                "--data-binary", "@\(offer.path)",
            ] + options + [try #require(node.quickstart.whipURL)], within: .seconds(60))
    }
}
