import ArgumentParser
import Node

/// Looks at the machine as a support engineer would, before or beside a running gateway.
struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks addresses, ports, certificates, the data directory, buffers, clock, limits, and a cluster's servers.",
        discussion:
            "Fails when a line begins with FAIL: a gateway would not start, or serve nobody. Those with `look` fail nothing.")

    @Option(name: .long, help: "The configuration file; embedded defaults without it.")
    var config: String?
    @Option(name: .long, help: "The data directory (default: store.directory of the configuration).")
    var data: String?
    @Flag(name: .long, help: "Repair the lists by which a cluster's records are found. Gateways may run meanwhile.")
    var repairIndexes = false

    func run() throws {
        let configuration = try ConfigurationSource(path: config, directory: data).read()
        var findings = DoctorChecks.all.flatMap { $0(configuration) }
        if repairIndexes { findings.append(DoctorChecks.repairIndexes(configuration)) }
        for finding in findings { print("\(finding.mark)  \(finding.text)") }
        let failures = findings.count { $0.level == .failure }
        let warnings = findings.count { $0.level == .warning }
        print("\(failures) failed, \(warnings) to look at")
        if failures > 0 { throw ExitCode.failure }
    }
}
