extension RouterControl {
    /// Routers that take new stages now.
    var eligibleRouters: [String] { routers.filter { $0.value.health.isEligible }.keys.sorted() }

    /// A router as operators see it.
    public struct Status: Sendable {
        public var name: String
        public var isDead: Bool
        public var isEligible: Bool
        /// Announced and answered there.
        public var participantCount: Int
    }

    /// In the order of their names.
    public var status: [Status] {
        routers.sorted { $0.key < $1.key }.map { name, router in
            Status(
                name: name, isDead: router.health.isDead, isEligible: router.health.isEligible,
                participantCount: participants.values.count { $0.isLive(at: name) })
        }
    }
}
