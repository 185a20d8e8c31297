import Foundation
import Testing

/// `Clients/proxy.py` in front of a listener: a balancer that speaks for an address.
final class Proxy {
    /// The listener's, with the proxy's port.
    let url: String
    private let run: ProgramRun

    init(to url: String, for address: String) throws {
        var components = try #require(URLComponents(string: url))
        run = try ProgramRun([
            Workspace.package.appending(path: ".deps/venv/bin/python").path,
            Workspace.package.appending(path: "Tests/Interop/Clients/proxy.py").path,
            "\(try #require(components.port))", address,
        ])
        expect("the proxy listens", within: .seconds(60)) { [run] in run.output.contains("\n") }
        components.port = Int(run.output.trimmingCharacters(in: .whitespacesAndNewlines))
        self.url = try #require(components.string)
    }
}
