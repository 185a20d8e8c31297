import EventLoop
import Foundation
import Redis
import Settings
import Sockets
import Store
import TestSupport
import Testing
import Wire

@testable import ClusterStore

/// A redis-server of a test's own, and nodes on it.
final class ClusterBench: Sendable {
    static let key = PlatformKey(Secret([UInt8](repeating: 7, count: 32)))!
    /// In 2084, where an hour begins: by its own clock the server forgets revocations that have ended, and metrics of long ago.
    static let now = WallTime(secondsSince1970: 3_600_000_000)

    let server: Lock<RedisServer>

    init(_ configuration: [String] = []) throws { server = Lock(try RedisServer(configuration)) }

    func ask(_ words: String...) throws -> String { try server.withLock { try $0.ask(words) } }

    func settings(_ node: String, key: PlatformKey = key) -> RedisStoreSettings {
        let port = server.withLock { $0.port }
        var settings = RedisStoreSettings(
            redis: RedisSettings(.standalone([RedisEndpoint(host: "127.0.0.1", port: port)])), platformKey: key, node: node)
        settings.cluster.startTimeout = .seconds(60)
        return settings
    }

    func node(_ name: String, observers: RedisStore.Observers = .init()) throws -> TestNode {
        try TestNode(settings(name), observers: observers)
    }

    static func stage(_ id: String) -> Stage {
        Stage(arn: ResourceName().arn(.stage, id), name: "n-\(id)", tags: ["team": "ü"], createdAt: now)
    }

    static func configuration(_ id: String, stage: String = "") -> IngestConfiguration {
        var configuration = IngestConfiguration(
            arn: ResourceName().arn(.ingestConfiguration, id), stageARN: stage, participantID: "p-\(id)",
            streamKey: Secret(ResourceName().streamKey(identifier: id, secret: "s3cret")), transport: .rtmps,
            insecureIngest: false, createdAt: now)
        (configuration.userID, configuration.attributes, configuration.tags) = ("user", ["a": "b"], ["t": ""])
        configuration.redundantIngest = true
        configuration.redundantCredentials = [.init(participantID: "r-\(id)", streamKey: Secret("rt_0_r_\(id)_second"))]
        return configuration
    }
}

/// One gateway's store with a data directory of its own.
final class TestNode: Sendable {
    let store: RedisStore
    let directory: TemporaryDirectory

    init(_ settings: RedisStoreSettings, directory: TemporaryDirectory? = nil, observers: RedisStore.Observers = .init()) throws {
        self.directory = try directory ?? TemporaryDirectory()
        store = try RedisStore(settings, directory: self.directory.path, observers: observers)
    }

    deinit { store.close() }

    var state: StoreState { store.state }

    @discardableResult
    func write<Value: Sendable>(_ body: @escaping @Sendable (inout StateTransaction) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in store.write(body) { continuation.resume(with: $0) } }
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (any HistoryReading) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in store.read(body) { continuation.resume(with: $0) } }
    }
}

/// Waits until something has come about; a loaded machine may take long.
func eventually(
    within limit: Duration = .seconds(60), _ condition: () async throws -> Bool, location: SourceLocation = #_sourceLocation
) async throws {
    let end = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < end else {
            Issue.record("did not come about in \(limit)", sourceLocation: location)
            return
        }
        try await Task.sleep(for: .milliseconds(2))
    }
}
