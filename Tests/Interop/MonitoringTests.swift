import Foundation
import Testing

extension Interop {
    /// The dashboards and alert rules name only what a running gateway tells, in expressions that Prometheus takes.
    @Suite struct Monitoring {
        @Test(.timeLimit(.minutes(10)))
        func `every expression is sound and names metrics that exist`() throws {
            let gateway = try Gateway()
            // Refusals are counted by reason: there must have been one.
            _ = try Encoder.ffmpeg(.p30, to: "\(gateway.quickstart.rtmpURL)/nobody-knows-this-key").status(within: .seconds(60))
            let scrape = try gateway.admin("metrics")
            gateway.stop()
            let kinds = Self.kinds(in: scrape)
            for expression in try Self.expressions() {
                for name in Self.metrics(in: expression) where !Self.ofCluster.contains(name) {
                    #expect(kinds[Self.family(name, kinds)] != nil, "\(name) in \(expression)")
                }
            }
        }

        @Test(.timeLimit(.minutes(10)))
        func `promtool takes the rules, and every panel's expression as one`() throws {
            var rules = "groups:\n  - name: panels\n    rules:\n"
            for (index, expression) in try Self.expressions().enumerated() {
                let quoted = expression.replacing("$instance", with: ".*").replacing("'", with: "''")
                rules += "      - {record: 'panel:\(index)', expr: '\(quoted)'}\n"
            }
            let file = Workspace.temporaryFile(suffix: ".yaml")
            try rules.write(to: file, atomically: true, encoding: .utf8)
            for path in [file.path, Self.conf.appending(path: "prometheus/alerts.yaml").path] {
                _ = try ProgramRun.output(of: ["promtool", "check", "rules", path], within: .seconds(60))
            }
        }

        /// With a stream live and one refused: what is named must be there, and the number of series
        /// must not follow that of streams.
        @Test(.timeLimit(.minutes(10)))
        func `a scrape under way is clean, complete and bounded`() throws {
            let gateway = try Gateway()
            _ = try Encoder.ffmpeg(.p30, to: "\(gateway.quickstart.rtmpURL)/nobody-knows-this-key").status(within: .seconds(60))
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            try expect("media counted", within: .seconds(60)) {
                try gateway.admin("metrics").contains(/stagedoor_rx_frames_total\{kind="video",protocol="rtmp"\} [1-9]/)
            }
            let scrape = try gateway.admin("metrics")
            encoder.interrupt()
            gateway.stop()
            let file = Workspace.temporaryFile(suffix: ".prom")
            try scrape.write(to: file, atomically: true, encoding: .utf8)
            let lint = try ProgramRun(["sh", "-c", "promtool check metrics < '\(file.path)'"])
            #expect(lint.status(within: .seconds(60)) == 0, "\(lint.output)")
            let kinds = Self.kinds(in: scrape)
            for name in Self.promised { #expect(kinds[name] != nil, "\(name)") }
            #expect(scrape.split(separator: "\n").count { !$0.hasPrefix("#") } <= 2_000)
            #expect(scrape.contains(#"result="refused""#))
            var limit = rlimit()
            #expect(getrlimit(CInt(RLIMIT_NOFILE.rawValue), &limit) == 0)
            #expect(scrape.contains("process_max_fds \(limit.rlim_max)\n"), "the hard limit is raised to")
            #expect(scrape.contains(#"stagedoor_sessions{protocol="rtmp",state="live"} 1"#))
            // One thing has one name, and parts of it are labels.
            #expect(kinds.keys.filter { $0.contains(/_(?:rtmp|whip)_(?:publish|refus|packets|lost|setup)/) } == [])
            #expect(!scrape.contains(gateway.quickstart.participantId), "labels are no ids")
        }

        /// What operators of ingests look at: publishes, set-up, media in and out, rules, transport, keys, routers, the process.
        private static let promised = [
            "stagedoor_sessions", "stagedoor_publish_attempts_total", "stagedoor_session_end_total", "stagedoor_setup_seconds",
            "stagedoor_rx_bytes_total", "stagedoor_rx_packets_total", "stagedoor_rx_frames_total",
            "stagedoor_encoder_frames_total", "stagedoor_rx_lost_packets_total", "stagedoor_rx_reordered_packets_total",
            "stagedoor_nack_sent_total",
            "stagedoor_nack_recovered_total", "stagedoor_pli_sent_total", "stagedoor_pli_received_total",
            "stagedoor_forward_packets_total", "stagedoor_forward_drop_total", "stagedoor_forward_latency_seconds",
            "stagedoor_spec_violations_total", "stagedoor_router_up", "stagedoor_router_failover_total",
            "stagedoor_auth_seconds", "stagedoor_auth_result_total", "stagedoor_srtp_auth_fail_total",
            "stagedoor_srtp_replay_total", "stagedoor_dtls_unverified_source_total", "stagedoor_stun_checks_total",
            "stagedoor_http_connections_total", "stagedoor_http_requests_total", "stagedoor_http_closed_total",
            "stagedoor_tls_cert_expiry_seconds", "stagedoor_udp_rcvbuf_errors_total", "stagedoor_udp_send_errors_total",
            "stagedoor_event_loop_lag_seconds", "stagedoor_build_info",
            "process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds",
        ]

        /// What only a node of a cluster tells.
        private static let ofCluster = ["stagedoor_cluster_connected", "stagedoor_cluster_nodes"]

        private struct Dashboard: Decodable {
            struct Panel: Decodable { var targets: [Target] }
            struct Target: Decodable { var expr: String }
            var panels: [Panel]
        }

        private static let conf = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "conf")

        /// Every expression of the three dashboards and of the alert rules.
        private static func expressions() throws -> [String] {
            var expressions: [String] = []
            for name in ["overview", "media", "node"] {
                let file = try Data(contentsOf: conf.appending(path: "grafana/\(name).json"))
                expressions += try JSONDecoder().decode(Dashboard.self, from: file).panels.flatMap(\.targets).map(\.expr)
            }
            let rules = try String(contentsOf: conf.appending(path: "prometheus/alerts.yaml"), encoding: .utf8)
            expressions += rules.matches(of: /(?m)^ +expr: (.+)$/).map { String($0.output.1) }
            #expect(expressions.count > 40)
            return expressions
        }

        private static func metrics(in expression: String) -> [String] {
            expression.matches(of: /\b(?:stagedoor|process)_[a-z_]+/).map { String($0.output) }
        }

        private static func kinds(in scrape: String) -> [String: String] {
            Dictionary(
                scrape.matches(of: /(?m)^# TYPE (\S+) (\S+)$/).map { (String($0.output.1), String($0.output.2)) },
                uniquingKeysWith: { first, _ in first })
        }

        /// The histogram that a `_bucket`, `_sum` or `_count` belongs to.
        private static func family(_ name: String, _ kinds: [String: String]) -> String {
            for ending in ["_bucket", "_sum", "_count"] where name.hasSuffix(ending) {
                let family = String(name.dropLast(ending.count))
                if kinds[family] == "histogram" { return family }
            }
            return name
        }
    }
}
