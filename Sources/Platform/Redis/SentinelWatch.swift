import EventLoop

/// Listens at a sentinel for failovers, so that the new primary is found the moment there is one.
final class SentinelWatch {
    var onSwitch: (_ new: RedisEndpoint) -> Void = { _ in }

    private let primary: String
    private let makeLink: () -> Link
    private var subscription: RedisSubscription?

    init(
        loop: EventLoop, _ sentinels: Sentinels, settings: RedisSettings, lookup: HostLookup, chance: @escaping () -> Double
    ) {
        primary = sentinels.primary
        makeLink = {
            let search = EndpointSearch(sentinels.endpoints, lookup: lookup)
            return Link(
                loop: loop, settings: sentinels.settings(from: settings), role: .sentinel, search: search, chance: chance)
        }
    }

    func start() {
        subscription = RedisSubscription(to: ["+switch-master"], over: makeLink(), onChange: { _ in }) { [unowned self] in
            if let new = Self.newPrimary(called: primary, in: $1) { onSwitch(new) }
        }
    }

    func close() { subscription = nil }

    /// The message is the primary's name, then host and port of the old and the new one.
    static func newPrimary(called primary: String, in payload: [UInt8]) -> RedisEndpoint? {
        let words = String(decoding: payload, as: UTF8.self).split(separator: " ")
        guard words.count == 5, words[0] == primary, let port = UInt16(words[4]) else { return nil }
        return RedisEndpoint(host: String(words[3]), port: port)
    }
}

/// The sentinels of one primary.
struct Sentinels {
    /// What they call it.
    let primary: String
    let endpoints: [RedisEndpoint]
    let credential: RedisCredential?

    /// How sentinels are spoken to: their password is not the primary's.
    func settings(from settings: RedisSettings) -> RedisSettings {
        var own = settings
        own.credential = credential
        return own
    }
}
