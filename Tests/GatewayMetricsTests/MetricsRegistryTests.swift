import EventLoop
import Glibc
import Testing

@testable import GatewayMetrics

@Suite("Metrics")
struct MetricsRegistryTests {
    private func text(_ registry: MetricsRegistry) -> String { String(decoding: registry.exposition(), as: UTF8.self) }

    @Test func `are written as Prometheus reads them`() {
        let registry = MetricsRegistry()
        registry.counter("stagedoor_publishes_total", "Publishes.", ["result": "ok", "protocol": "rtmp"]).increment(by: 3)
        registry.gauge("stagedoor_sessions", "Live\nsessions.", ["state": "a\"b\\c\nd"]).set(1.5)
        let histogram = registry.histogram("stagedoor_setup_seconds", "Set-up.", bounds: [0.1, 1])
        for value in [0.1, 0.5, 0.75, 7.0] { histogram.observe(value) }
        #expect(
            text(registry) == """
                # HELP stagedoor_publishes_total Publishes.
                # TYPE stagedoor_publishes_total counter
                stagedoor_publishes_total{protocol="rtmp",result="ok"} 3
                # HELP stagedoor_sessions Live\\nsessions.
                # TYPE stagedoor_sessions gauge
                stagedoor_sessions{state="a\\"b\\\\c\\nd"} 1.5
                # HELP stagedoor_setup_seconds Set-up.
                # TYPE stagedoor_setup_seconds histogram
                stagedoor_setup_seconds_bucket{le="0.1"} 1
                stagedoor_setup_seconds_bucket{le="1"} 3
                stagedoor_setup_seconds_bucket{le="+Inf"} 4
                stagedoor_setup_seconds_sum 8.35
                stagedoor_setup_seconds_count 4

                """)
    }

    @Test func `the same name and labels are the same object`() {
        let registry = MetricsRegistry()
        registry.counter("a_total", "A.", ["x": "1"]).increment()
        #expect(registry.counter("a_total", "A.", ["x": "1"]).value == 1)
        #expect(registry.counter("a_total", "A.", ["x": "2"]).value == 0)
    }

    @Test func `a series that is taken away is not written any more`() {
        let registry = MetricsRegistry()
        for name in ["1", "2"] { registry.gauge("a", "A.", ["x": name]).set(1) }
        registry.remove("a", ["x": "1"])
        registry.remove("b", [:])
        #expect(text(registry).hasSuffix("gauge\na{x=\"2\"} 1\n"))
    }

    @Test func `series beyond the bound are counted as other`() {
        let registry = MetricsRegistry()
        for number in 0..<1000 { registry.counter("a_total", "A.", ["x": "\(number)"]).increment() }
        #expect(registry.counter("a_total", "A.", ["x": "other"]).value == 1000 - MetricsRegistry.maximumSeriesPerMetric)
        #expect(text(registry).split(separator: "\n").count == MetricsRegistry.maximumSeriesPerMetric + 3)
    }

    @Test func `count on many threads without loss`() throws {
        let counter = Counter()
        let gauge = Gauge()
        let threads = try (0..<4).map { _ in
            try WorkerThread.start(name: "count") {
                let shard = counter.shard()
                for _ in 0..<10_000 {
                    shard.increment()
                    counter.increment()
                    gauge.increment()
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(counter.value == 80_000)
        #expect(gauge.value == 40_000)
    }

    @Test func `a loop reports on itself, and then sleeps`() throws {
        let registry = MetricsRegistry()
        let loop = try EventLoop()
        let metrics = LoopMetrics(loop, name: "test", in: registry)
        let turns = registry.counter("stagedoor_event_loop_turns_total", "Times the loop woke up.", ["loop": "test"])
        let work = loop.schedule(after: .milliseconds(1)) {}
        #expect(loop.run(until: { turns.value > 0 }, within: .seconds(120)))
        #expect(!text(registry).contains(#"stagedoor_event_loop_lag_seconds_count{loop="test"} 0"#))
        // Whatever is still to be told takes one turn more; the limit's own is the last.
        _ = loop.run(until: { false }, within: .seconds(5))
        #expect(loop.statistics.turns + turns.value <= 4)
        withExtendedLifetime((metrics, work)) {}
    }
}

@Suite("Prometheus' own judgement")
struct PromtoolTests {
    @Test func `promtool finds nothing to complain about`() throws {
        let registry = MetricsRegistry()
        ProcessMetrics.register(in: registry, version: "1.2.3")
        registry.counter("stagedoor_publishes_total", "Publishes.", ["protocol": "rtmp"]).increment()
        registry.histogram("stagedoor_setup_seconds", "Set-up.", ["step": "http"]).observe(.milliseconds(3))
        var pipe: [CInt] = [0, 0]
        #expect(Glibc.pipe(&pipe) == 0)
        let text = registry.exposition()
        #expect(write(pipe[1], text, text.count) == text.count)
        close(pipe[1])
        #expect(try run(["/usr/bin/promtool", "check", "metrics"], input: pipe[0]) == 0)
    }

    private func run(_ arguments: [String], input: CInt) throws -> CInt {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var process = pid_t()
        try #require(posix_spawn(&process, arguments[0], &actions, nil, &words, environ) == 0)
        var status: CInt = 0
        try #require(waitpid(process, &status, 0) == process)
        close(input)
        return status
    }
}
