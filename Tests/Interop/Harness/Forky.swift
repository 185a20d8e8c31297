import Foundation
import Testing

/// The Debian that scripts/install-interop makes: home of programs newer than this machine's own.
enum Forky {
    static let isAsked = ProcessInfo.processInfo.environment["STAGEDOOR_INTEROP"] == "all"
    static let reason: Comment = "needs .deps/forky, two minutes to install: run `make interop`"

    /// The line that starts `arguments` there. Temporary files have the same path inside and out.
    ///
    /// - Parameter authority: the file of a certificate that this run trusts, beside those it knows.
    static func command(_ arguments: [String], trusting authority: String? = nil) -> [String] {
        let script = Workspace.package.appending(path: "scripts/in-forky").path
        return [script] + (authority.map { ["--trust", $0] } ?? []) + arguments
    }
}
