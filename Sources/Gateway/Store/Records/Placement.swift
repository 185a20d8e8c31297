/// Which router carries a stage, by compare-and-swap (docs/design.md 6.4): one record for each stage and replica.
public struct Placement: Hashable, Sendable {
    public struct Key: Hashable, Sendable {
        public var stageID: String
        /// 0 for the first router, up to `replicas` − 1.
        public var replica: Int

        public init(stageID: String, replica: Int) { (self.stageID, self.replica) = (stageID, replica) }
    }

    public var key: Key
    public var router: String
    /// Rises with every move: max(last + 1, wall clock ms), below 2^53.
    public var generation: UInt64

    public init(key: Key, router: String, generation: UInt64) {
        (self.key, self.router, self.generation) = (key, router, generation)
    }
}
