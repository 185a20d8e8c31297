import Admission

/// Who waits for what, by the numbers that a `NodeMachine` knows.
struct PendingReplies {
    struct WeakHolder {
        weak var holder: ElsewhereHolder?
    }

    var claims: [Int: ClusterOrder.Claim] = [:]
    var views: [Int: (ClusterAnswer.StageView?) -> Void] = [:]
    var holders: [Int: WeakHolder] = [:]
    private var lastNumber = 0

    /// - Returns: the claim as the machine takes it.
    mutating func add(_ claim: ClusterOrder.Claim) -> NodeClaim {
        lastNumber += 1
        claims[lastNumber] = claim
        let grant = claim.grant
        return NodeClaim(
            number: lastNumber, key: LeaseKey(stageID: grant.stageID, participantID: grant.participantID),
            set: grant.ingestConfigurationARN ?? grant.participantID, credential: grant.credentialHash,
            takesOver: claim.takesOver, isToken: grant.ingestConfigurationARN == nil)
    }

    mutating func addView(_ reply: @escaping (ClusterAnswer.StageView?) -> Void) -> Int {
        lastNumber += 1
        views[lastNumber] = reply
        return lastNumber
    }
}

/// Answers about several stages, told together; without one of them nothing is known.
final class Gathering {
    private var views: [String: ClusterAnswer.StageView] = [:]
    private var missing: Int
    private let reply: ([String: ClusterAnswer.StageView]?) -> Void
    private var isIncomplete = false

    init(count: Int, _ reply: @escaping ([String: ClusterAnswer.StageView]?) -> Void) {
        (missing, self.reply) = (count, reply)
        if count == 0 { reply([:]) }
    }

    func add(_ view: ClusterAnswer.StageView?, of arn: String) {
        views[arn] = view
        isIncomplete = isIncomplete || view == nil
        missing -= 1
        if missing == 0 { reply(isIncomplete ? nil : views) }
    }
}
