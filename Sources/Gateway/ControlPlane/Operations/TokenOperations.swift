import Admission
import EventLoop
import JSON
import JWT
import Refusals
import Store
import Wire

/// What a token is asked to say (`ParticipantTokenConfiguration`).
struct TokenRequest: Sendable {
    var minutes: Int
    var userID: String?
    var attributes: [String: String]?
    var capabilities: [String]

    init(_ input: Input) throws(APIError) {
        minutes = try input.optionalInteger("duration", 1...20_160) ?? 720
        userID = try input.optionalText("userId", .userID)
        attributes = try input.attributes()
        capabilities =
            try input.optionalTexts("capabilities", .oneOf("PUBLISH", "SUBSCRIBE"), maximumCount: 2)
            ?? ["PUBLISH", "SUBSCRIBE"]
        guard !capabilities.isEmpty else { throw .validation("capabilities must not be empty: leave it out for both.") }
    }
}

/// Participant tokens, and cutting off those who have one.
struct TokenOperations: Sendable {
    let context: OperationContext

    func createParticipantToken(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let arn = try input.text("stageArn", .arn(.stage))
        let request = try TokenRequest(input)
        reply(.success(["participantToken": try mint(request, stageARN: try context.stage(arn).arn)]))
    }

    /// Nothing of a token is stored.
    func mint(_ request: TokenRequest, stageARN: String) throws(APIError) -> JSONValue {
        var wanted = TokenAuthority.Request()
        (wanted.userID, wanted.attributes) = (request.userID ?? "", request.attributes ?? [:])
        wanted.allowsPublish = request.capabilities.contains("PUBLISH")
        wanted.allowsSubscribe = request.capabilities.contains("SUBSCRIBE")
        wanted.minutes = request.minutes
        guard
            let minted = try? context.authority.mint(
                wanted, stageARN: stageARN, endpoints: context.settings.endpoints, now: context.wallNow())
        else { throw .internalError }
        guard minted.token.count <= CompactToken.maximumLength else {
            throw .validation("userId and attributes make a token of more than \(CompactToken.maximumLength) bytes.")
        }
        var object: JSONObject = [
            "participantId": .string(minted.participantID), "token": .string(minted.token.revealText()),
            "duration": .integer(Int64(request.minutes)), "capabilities": .array(request.capabilities.map { .string($0) }),
            "expirationTime": Output.time(minted.expirationTime),
        ]
        if let userID = request.userID { object["userId"] = .string(userID) }
        if let attributes = request.attributes { object["attributes"] = Output.map(attributes) }
        return .object(object)
    }

    /// Cuts the participant off for good: its ingest configuration is detached, with all of its participants, or its tokens are
    /// refused until they have expired. That ends also who watches, or has not published yet (`TokenStanding`).
    func disconnectParticipant(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let stageARN = try context.stage(try input.text("stageArn", .arn(.stage))).arn
        let participant = StageParticipant(try input.text("participantId", .participantID), of: stageARN)
        let reason = try input.optionalText("reason", .reason) ?? ""
        let words = reason.isEmpty ? RefusalCode.participantDisconnected.sentence : "Disconnected by the operator: \(reason)"
        let refusal = Refusal(.participantDisconnected, sentence: words)
        isKnown(participant, reply) { [self] isKnown in
            context.write(reply) { [self] transaction throws(APIError) in
                try cutOff(participant, isKnown: isKnown, in: &transaction)
            } then: { [self] disconnected in
                for participant in disconnected.others.union([participant]) { context.leases.end(participant, refusal) }
                context.tellStopped(disconnected.replications)
                return [:]
            }
        }
    }

    /// Asks whether the participant publishes, watches, or ever was on its stage; `finish` replies.
    private func isKnown(
        _ participant: StageParticipant, _ reply: @escaping OperationReply, finish: @escaping @Sendable (Bool) -> Void
    ) {
        context.whoIsLive(among: [participant], reply) { [context] live in
            guard live.isEmpty, !context.isWatching(participant) else { return finish(true) }
            context.read(
                reply, { try $0.knows(participant: participant.participantID, ofStage: participant.stageARN) }, finish: finish)
        }
    }

    /// A replica is taken from its stage, and nobody is shut out; a source takes its replicas with it.
    /// - Returns: who else is cut off, and what is replicated no longer.
    private func cutOff(
        _ participant: StageParticipant, isKnown: Bool, in transaction: inout StateTransaction
    ) throws(APIError) -> (others: Set<StageParticipant>, replications: [Replication]) {
        if let replication = transaction.state.runningReplication(to: participant) {
            return ([], transaction.stop(replication.key).map { [$0] } ?? [])
        }
        let others = try shutOut(participant.participantID, of: participant.stageARN, isKnown: isKnown, in: &transaction)
        let sources = others.union([participant])
        return (others, transaction.stopReplications { sources.contains($0.source) })
    }

    /// - Returns: who else is cut off.
    private func shutOut(
        _ participantID: String, of stageARN: String, isKnown: Bool, in transaction: inout StateTransaction
    ) throws(APIError) -> Set<StageParticipant> {
        let configuration = transaction.state.ingestConfigurations.values.first { configuration in
            configuration.stageARN == stageARN && configuration.credentials.contains { $0.participantID == participantID }
        }
        if var configuration {
            let publishers = configuration.publishers
            configuration.stageARN = ""
            transaction.put(configuration)
            return publishers
        }
        guard isKnown else { throw .notFound("The stage has no such participant.") }
        // The longest-lived token that can exist for it by now.
        let longest = Duration.seconds(ParticipantClaims.maximumLifetime + 2 * ParticipantClaims.leeway)
        transaction.put(Revocation(stageARN: stageARN, participantID: participantID, expiresAt: context.wallNow() + longest))
        return []
    }
}
