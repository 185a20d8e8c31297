import Foundation
import Testing

extension Interop {
    /// What docker/ says is taken by the programs it is written for.
    @Suite struct Deployment {
        private static let compose = Workspace.package.appending(path: "docker/compose")

        /// A compose file, the configuration that its gateways read, and how many places it mounts at least.
        private static let platforms = [("compose.yaml", "stagedoor.yaml", 6), ("compose.cluster.yaml", "cluster.yaml", 2)]

        @Test(.timeLimit(.minutes(10)), arguments: platforms)
        func `the gateway takes compose's configuration and environment`(_ name: String, _ settings: String, _: Int) throws {
            let file = try String(contentsOf: Workspace.package.appending(path: "docker/\(name)"), encoding: .utf8)
            // Of several gateways the last one's variables.
            let variables = file.matches(of: /(?m)^ +(STAGEDOOR_[A-Z_]+): (.+)$/).map { match in
                "\(match.output.1)=\(Self.filledIn(String(match.output.2)))"
            }
            #expect(variables.count >= 5)
            let line = ["env"] + variables + [try Workspace.program("stagedoor"), "check", "--config"]
            let shown = try ProgramRun.output(
                of: line + [Self.compose.appending(path: settings).path], within: .seconds(60))
            #expect(shown.contains(":8088/janus"))
            #expect(shown.contains("203.0.113.5") && !shown.contains(Self.secret))
        }

        @Test(.timeLimit(.minutes(10)))
        func `the gateway takes a cluster's configuration`() throws {
            let line = [
                "env", "STAGEDOOR_CLUSTER_NODE=a", "STAGEDOOR_CLUSTER_URL=http://10.0.0.11:8080",
                try Workspace.program("stagedoor"), "check", "--config",
            ]
            let file = Workspace.package.appending(path: "conf/cluster.yaml").path
            let shown = try ProgramRun.output(of: line + [file], within: .seconds(60))
            #expect(shown.contains("valkey.internal:6379"))
        }

        @Test(.timeLimit(.minutes(10)))
        func `the gateway takes Kubernetes' configuration, and a data directory that it makes itself`() throws {
            let manifest = try String(
                contentsOf: Workspace.package.appending(path: "docker/kubernetes/stagedoor.yaml"), encoding: .utf8)
            let file = try #require(manifest.firstMatch(of: /(?s)stagedoor\.yaml: \|\n(.+?)\n---/)).output.1
                .replacing(/(?m)^ {4}/, with: "")
            let path = Workspace.temporaryFile(suffix: ".yaml").path
            try file.write(toFile: path, atomically: true, encoding: .utf8)
            var line = ["env"]
            for match in manifest.matches(of: /name: (STAGEDOOR_[A-Z_]+)\n +value: (.+)/) {
                line.append("\(match.output.1)=\(match.output.2.replacing("$(HOST_ADDRESS)", with: "203.0.113.5"))")
            }
            for match in manifest.matches(of: /--from-literal=(STAGEDOOR_[A-Z_]+)=/) {
                line.append("\(match.output.1)=\(match.output.1.hasSuffix("_ID") ? "AKIAEXAMPLEEXAMPLE" : Self.secret)")
            }
            #expect(line.count == 8)
            let shown = try ProgramRun.output(
                of: line + [try Workspace.program("stagedoor"), "check", "--config", path], within: .seconds(60))
            #expect(shown.contains("http://203.0.113.5:8080") && !shown.contains(Self.secret), "\(shown)")
            // A volume's root is another user's, whose folder the gateway does not take.
            #expect(manifest.contains("--data, /var/lib/stagedoor/data]") && manifest.contains("mountPath: /var/lib/stagedoor}"))
        }

        @Test(arguments: platforms)
        func `every variable and every file that compose names is there`(_ name: String, _: String, _ mountCount: Int) throws {
            let file = try String(contentsOf: Workspace.package.appending(path: "docker/\(name)"), encoding: .utf8)
            let example = try String(contentsOf: Self.compose.appending(path: "environment.example"), encoding: .utf8)
            for variable in Set(file.matches(of: /\$\{([A-Z_]+)(?::\?|\})/).map { String($0.output.1) }) {
                #expect(example.contains("\n\(variable)="), "\(variable)")
            }
            let mounts = file.matches(of: /"(\.[^:"]+):/).map { String($0.output.1) }
            #expect(mounts.count >= mountCount)
            let folder = Workspace.package.appending(path: "docker")
            for mount in mounts {
                #expect(FileManager.default.fileExists(atPath: folder.appending(path: mount).path), "\(mount)")
            }
        }

        @Test(.timeLimit(.minutes(10)))
        func `Prometheus takes compose's configuration with our rules`() throws {
            let folder = Workspace.temporaryFile(suffix: ".prometheus")
            let rules = Workspace.package.appending(path: "conf/prometheus")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: rules, to: folder.appending(path: "rules"))
            let file = folder.appending(path: "prometheus.yml")
            try FileManager.default.copyItem(at: Self.compose.appending(path: "prometheus.yaml"), to: file)
            let said = try ProgramRun.output(of: ["promtool", "check", "config", file.path], within: .seconds(60))
            #expect(said.contains("1 rule files found"))
        }

        /// Against the schemas of the API itself, at both ends of what is supported; nothing is applied to a cluster.
        @Test(
            .timeLimit(.minutes(10)), .enabled(if: Forky.isAsked, "needs kubernetes-validate: run `make interop`"),
            arguments: ["1.29", "1.37"])
        func `the Kubernetes API's schemas take the manifests, and no unknown field`(_ version: String) throws {
            let folder = Workspace.package.appending(path: "docker/kubernetes")
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).map { folder.appending(path: $0).path }
            let program = Workspace.package.appending(path: ".deps/venv-engine/bin/kubernetes-validate").path
            let said = try ProgramRun.output(of: [program, "--strict", "-k", version] + files, within: .seconds(60))
            #expect(said.matches(of: /passed for resource/).count == 8, "\(said)")
        }

        @Test(.timeLimit(.minutes(10)))
        func `systemd takes the units`() throws {
            let root = Workspace.temporaryFile(suffix: ".root")
            let units = root.appending(path: "etc/systemd/system")
            try FileManager.default.createDirectory(
                at: units.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: Workspace.package.appending(path: "docker/systemd"), to: units)
            // What they start has to be there, and what they wait for.
            for program in ["opt/stagedoor/bin/stagedoor", "bin/kill"] {
                let file = root.appending(path: program)
                try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try FileManager.default.copyItem(at: URL(filePath: "/usr/bin/true"), to: file)
            }
            let library = root.appending(path: "usr/lib/systemd/system")
            try FileManager.default.createDirectory(
                at: library.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: URL(filePath: "/usr/lib/systemd/system"), to: library)
            let names = try FileManager.default.contentsOfDirectory(atPath: units.path).filter { $0.hasPrefix("stagedoor") }
            #expect(names.count >= 6)
            let verify = try ProgramRun(["systemd-analyze", "verify", "--man=no", "--root=\(root.path)"] + names)
            #expect(verify.status(within: .seconds(60)) == 0, "\(verify.output)")
            #expect(verify.output.isEmpty, "\(verify.output)")
        }

        /// Secrets are what must not be shown again.
        private static let secret = "a-secret-of-forty-characters-or-thereabouts"

        private static func filledIn(_ value: String) -> String {
            switch value {
            case let value where value.contains("PUBLIC_ADDRESS"):
                value.replacing(/\$\{PUBLIC_ADDRESS[^}]*\}/, with: "203.0.113.5").trimmingCharacters(in: ["\""])
            case let value where value.contains("ACCESS_KEY_ID"): "AKIAEXAMPLEEXAMPLE"
            case let value where value.hasPrefix("${"): secret
            default: value.trimmingCharacters(in: ["\""])
            }
        }
    }
}
