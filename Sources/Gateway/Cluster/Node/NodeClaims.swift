import Wire

/// The claims under way. Those of one participant take turns: only the first of them is in work.
struct NodeClaims: Sendable {
    private var claims: [Int: NodeClaim] = [:]
    /// The first number is of the claim in work.
    private var queues: [LeaseKey: [Int]] = [:]
    /// Which remote lease each participant's last claim was told of.
    private var seen = FadingTable<LeaseKey, UInt64>(maximumCount: maximumSeen, lifetime: seenLifetime)

    /// Nil for a claim that has been answered; then nothing is set.
    subscript(_ number: Int) -> NodeClaim? {
        get { claims[number] }
        set { if let newValue, claims[number] != nil { claims[number] = newValue } }
    }

    func contains(stage: String) -> Bool { claims.values.contains { $0.key.stageID == stage } }

    /// When a claim that waits asks again.
    var deadline: MonotonicTime? { claims.values.lazy.compactMap(\.waitsUntil).min() }

    /// Those that have waited long enough; in the order in which they came.
    func due(_ now: MonotonicTime) -> [Int] {
        claims.values.filter { claim in claim.waitsUntil.map { now >= $0 } ?? false }.map(\.number).sorted()
    }

    /// Those that wait until one of these stages is marked; in the order in which they came.
    func marking(_ stages: [String]) -> [Int] {
        claims.values.filter { $0.phase == .marking && stages.contains($0.key.stageID) }.map(\.number).sorted()
    }

    // MARK: - Turns

    /// - Returns: whether it is its turn.
    mutating func add(_ claim: NodeClaim) -> Bool {
        claims[claim.number] = claim
        queues[claim.key, default: []].append(claim.number)
        return queues[claim.key]?.count == 1
    }

    /// The claim is answered.
    mutating func remove(_ number: Int) -> NodeClaim? {
        guard let claim = claims.removeValue(forKey: number) else { return nil }
        if let place = queues[claim.key]?.firstIndex(of: number) { queues[claim.key]?.remove(at: place) }
        if queues[claim.key]?.isEmpty == true { queues[claim.key] = nil }
        return claim
    }

    /// Whose turn it is.
    func first(of key: LeaseKey) -> Int? { queues[key]?.first }

    // MARK: - What they were told of

    mutating func lastSeen(by key: LeaseKey, _ now: MonotonicTime) -> UInt64? { seen.value(of: key, at: now) }

    mutating func saw(_ generation: UInt64, by key: LeaseKey, _ now: MonotonicTime) { seen.set(generation, for: key, at: now) }

    /// The participant has the lease itself.
    mutating func forgetSeen(by key: LeaseKey, _ now: MonotonicTime) { seen.set(nil, for: key, at: now) }

    /// Participants whose last remote lease is remembered; as many claims may be under way.
    static let maximumSeen = 65_536
    /// Twice as long as whoever was told of a lease looks at it (`LeaseOwners.watchLifetime`).
    static let seenLifetime = Duration.seconds(60)
}
