import Admission
import JSON
import Refusals
import Store

/// Replication: a live publisher of one stage is shown on others too. All that happens here is that a record is written; the node
/// that has the publisher acts on it (Gateway/Replication).
struct ReplicationOperations: Sendable {
    let context: OperationContext

    func startParticipantReplication(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let key = try Self.key(input)
        let window = try input.optionalInteger("reconnectWindowSeconds", 0...300) ?? 0
        let attributes = try input.attributes() ?? [:]
        guard key.sourceStageARN != key.destinationStageARN else {
            throw .validation("sourceStageArn and destinationStageArn are the same stage.")
        }
        try check(stagesOf: key)
        let replication = Replication(
            key, number: Identifier.random(12), attributes: attributes, reconnectWindow: window, startedAt: context.wallNow())
        context.whoIsLive(among: [key.source, key.destination], reply) { [self] live in
            if let error = objection(to: key, live: live) { return reply(.failure(error)) }
            start(replication, reply)
        }
    }

    /// What speaks against it, by who publishes where.
    private func objection(to key: Replication.Key, live: Set<StageParticipant>) -> APIError? {
        let state = context.store.state
        if state.runningReplication(to: key.source) != nil {
            return .validation("The participant is a replica there: replicate it from the stage where it publishes.")
        }
        if let joined = state.joined(fromEncoder: key.source) {
            return .validation("The participant is one of two encoders: replicate \(joined), which the stage sees of them.")
        }
        if !live.contains(key.source) { return .notFound("The participant does not publish on the source stage.") }
        if let running = state.replications[key], running.isRunning { return Self.conflict(with: running) }
        if context.leases.isHeldByFormerProcess(key.source) {
            return .conflict("The process before this one has the participant's stream: have its encoder connect anew.")
        }
        if live.contains(key.destination) {
            return .conflict("A participant of the same id publishes on the destination stage.")
        }
        return nil
    }

    private func start(_ replication: Replication, _ reply: @escaping OperationReply) {
        let key = replication.key
        context.write(reply) { transaction throws(APIError) in
            try Self.check(stagesOf: key, in: transaction.state)
            let running = transaction.state.replications(of: key.source).filter(\.isRunning)
            if let same = running.first(where: { $0.key == key }) { throw Self.conflict(with: same) }
            guard running.count < Replication.maximumPerParticipant else {
                throw .quota("The participant is replicated to \(running.count) stages already.")
            }
            transaction.put(replication)
        } finish: { [self] in
            context.replications.wait(for: replication, in: context.store.state) { [self] in
                answer(replication, $0, reply)
            }
        }
    }

    private func answer(_ replication: Replication, _ outcome: ReplicationAnswers.Outcome, _ reply: @escaping OperationReply) {
        switch outcome {
        case .active: reply(.success([:]))
        case .gone: reply(.failure(.notFound("The participant's publish ended, or its replication was stopped.")))
        case .refused(let number): takeAway(replication, reply, Self.error(number))
        case .unanswered: takeAway(replication, reply, .internalError)
        }
    }

    private func takeAway(_ replication: Replication, _ reply: @escaping OperationReply, _ error: APIError) {
        context.store.write { transaction in
            guard transaction.state.replications[replication.key]?.number == replication.number else { return }
            transaction.removeReplication(replication.key)
        } reply: { _ in
            reply(.failure(error))
        }
    }

    func stopParticipantReplication(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let key = try Self.key(input)
        try check(stagesOf: key)
        context.write(reply) { transaction throws(APIError) in
            guard transaction.state.replications[key]?.isRunning == true else {
                throw .notFound("The participant is not replicated to this stage.")
            }
            return transaction.stop(key)
        } then: { [context] stopped in
            context.tellStopped(stopped.map { [$0] } ?? [])
            return [:]
        }
    }

    func listParticipantReplicas(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let source = StageParticipant(
            try input.text("participantId", .participantID), of: try input.text("sourceStageArn", .arn(.stage)))
        let page = try Page(input, list: "replicas", maximum: 50)
        let told = context.store.state.replications(of: source).filter { $0.state == .active || $0.state == .stopped }
        let items = page.items(of: told, key: \.key.destinationStageARN)
        reply(.success(page.output("replicas", items, key: \.key.destinationStageARN, encode: Output.replica)))
    }

    private static func key(_ input: Input) throws(APIError) -> Replication.Key {
        let source = try input.text("sourceStageArn", .arn(.stage))
        let destination = try input.text("destinationStageArn", .arn(.stage))
        return Replication.Key(try input.text("participantId", .participantID), from: source, to: destination)
    }

    private func check(stagesOf key: Replication.Key) throws(APIError) { try Self.check(stagesOf: key, in: context.store.state) }

    private static func check(stagesOf key: Replication.Key, in state: StoreState) throws(APIError) {
        guard state.stages[key.sourceStageARN] != nil else { throw .notFound("There is no such source stage.") }
        guard state.stages[key.destinationStageARN] != nil else { throw .notFound("There is no such destination stage.") }
    }

    /// - Parameter number: of the refusal by the destination.
    private static func error(_ number: Int) -> APIError {
        switch RefusalCode(rawValue: number) {
        case .stageFull, .overloaded: .quota("The destination stage takes no more publishers.")
        case .streamKeyInUse: .conflict("A participant of the same id publishes on the destination stage.")
        case .stageDeleted: .notFound("There is no such destination stage.")
        case .platformAway: .unavailable
        default: .internalError
        }
    }

    private static func conflict(with running: Replication) -> APIError {
        guard let refusal = RefusalCode(rawValue: running.refusedBy) else {
            return .conflict("The participant is replicated to this stage already.")
        }
        return .conflict(
            "The participant is replicated to this stage already, which does not take it now (\(refusal.identifier)) and is asked again."
        )
    }
}

extension StoreState {
    /// The participant that the stage sees of an encoder of redundant ingest; nil for whoever is none.
    fileprivate func joined(fromEncoder participant: StageParticipant) -> String? {
        for configuration in ingestConfigurations.values where configuration.stageARN == participant.stageARN {
            if case .encoder(_, let joined)? = configuration.redundancy(of: participant.participantID) { return joined }
        }
        return nil
    }
}

extension OperationContext {
    /// Tells the history what a transaction has stopped, and ends what the leases know of it, wherever it lives.
    func tellStopped(_ stopped: [Replication]) {
        guard !stopped.isEmpty else { return }
        store.recordStopped(stopped, at: wallNow())
        leases.endRevoked()
    }
}
