import EventLoop
import Redis
import Settings

/// The server, and the other nodes through it: calls go out as commands, and their answers come in. Confined to the loop.
final class ClusterConnection {
    /// Calls under way, and what they have of bytes: one turn renews all stages on which the node holds something, each by some
    /// 400 bytes; by 8 kB where the server does not know the script yet.
    private static let (maximumCalls, maximumUnsentBytes) = (65_536, 32 << 20)

    private let settings: NodeSettings
    private let keys: ClusterKeys
    private let client: RedisClient
    private let scripts = Dictionary(uniqueKeysWithValues: ClusterScript.allCases.map { ($0, RedisScript($0.source)) })
    private var subscription: RedisSubscription?

    /// - Throws: when the kernel gives no more descriptors.
    init(loop: EventLoop, settings: NodeSettings, redis: RedisSettings) throws(SystemError) {
        (self.settings, keys) = (settings, ClusterKeys(prefix: settings.cluster.keyPrefix))
        var redis = redis
        redis.limits.maximumPipelinedCommands = Self.maximumCalls
        redis.limits.maximumUnsentBytes = Self.maximumUnsentBytes
        client = try RedisClient(loop: loop, settings: redis)
    }

    var state: RedisState { client.state }

    var onStateChange: (RedisState) -> Void {
        get { client.onStateChange }
        set { client.onStateChange = newValue }
    }

    /// - Parameter onListening: whether the node hears what others say.
    func start(onListening: @escaping (Bool) -> Void, onMessage: @escaping (NodeMessage) -> Void) {
        client.start()
        subscription = client.subscribe(
            to: [keys.channel(ofNode: settings.nodeID)], onChange: { onListening($0 == .listening) },
            onMessage: { _, payload in
                if let message = NodeMessage(parsing: payload) { onMessage(message) }
            })
    }

    /// What still waits for its answer is told from inside this call that there is none.
    func close() {
        client.onStateChange = { _ in }
        subscription?.close()
        client.close()
    }

    /// - Parameter reply: called once, later; `.unexpected` for what no script of ours answers.
    func run(_ call: ClusterCall, reply: @escaping (Result<ClusterAnswer, RedisError>) -> Void) {
        let command = call.command(settings)
        let (keys, arguments) = (command.keys.map { RedisArgument($0) }, command.arguments.map { RedisArgument($0) })
        let read: (RedisReply) -> Void = { value in reply(value.flatMap { Self.answer($0, to: call) }) }
        switch command.body {
        case .plain(let name): client.send(RedisCommand([RedisArgument(name)] + keys + arguments), key: keys.first, reply: read)
        case .script(let name):
            guard let script = scripts[name] else { return }
            client.evaluate(script, keys: keys, arguments: arguments, reply: read)
        }
    }

    private static func answer(_ value: RedisValue, to call: ClusterCall) -> Result<ClusterAnswer, RedisError> {
        guard let answer = ClusterAnswer(value, to: call) else { return .failure(.unexpected) }
        return .success(answer)
    }

    /// A message may be lost.
    func send(_ message: NodeMessage, to node: String) {
        let channel = RedisArgument(keys.channel(ofNode: node))
        client.send(RedisCommand("PUBLISH", channel, RedisArgument(message.serialized()))) { _ in }
    }
}
