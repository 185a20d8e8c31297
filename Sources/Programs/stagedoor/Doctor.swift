import ArgumentParser
import GatewayConfiguration

/// Looks at the machine as a support engineer would, before or beside a running gateway.
struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Checks addresses, ports, certificates, buffers, clock and limits.")

    @Option(name: .long, help: "The configuration file; embedded defaults without it.")
    var config: String?

    func run() throws {
        let configuration = try ConfigurationFile.load(config)
        let findings = DoctorChecks.all.flatMap { $0(configuration) }
        for finding in findings { print("\(finding.mark)  \(finding.text)") }
        let failures = findings.count { $0.level == .failure }
        let warnings = findings.count { $0.level == .warning }
        print("\(failures) failed, \(warnings) to look at")
        if failures > 0 { throw ExitCode.failure }
    }
}

/// One thing the doctor saw.
struct Finding: Sendable {
    enum Level: Sendable { case fine, warning, failure }

    var level: Level
    var text: String

    var mark: String {
        switch level {
        case .fine: "ok  "
        case .warning: "look"
        case .failure: "FAIL"
        }
    }

    static func fine(_ text: String) -> Finding { Finding(level: .fine, text: text) }
    static func warning(_ text: String) -> Finding { Finding(level: .warning, text: text) }
    static func failure(_ text: String) -> Finding { Finding(level: .failure, text: text) }
}
