import HTTP
import JSON
import Store

/// Tags of any resource.
struct TagOperations: Sendable {
    let context: OperationContext

    func tagResource(_ arn: String, _ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        guard let new = try input.tags() else { throw .validation("tags is required.") }
        changeTags(try Self.checked(arn), reply) { $0.merging(new) { $1 } }
    }

    func untagResource(_ arn: String, keys: [String], _ reply: @escaping OperationReply) throws(APIError) {
        guard !keys.isEmpty else { throw .validation("tagKeys is required.") }
        guard keys.count <= Input.maximumTags else { throw .malformed("tagKeys", "a list of at most \(Input.maximumTags)") }
        guard keys.allSatisfy(TextRule.tagKey.accepts) else { throw .malformed("Each of tagKeys", TextRule.tagKey.form) }
        changeTags(try Self.checked(arn), reply) { tags in tags.filter { !keys.contains($0.key) } }
    }

    func listTags(_ arn: String, _ reply: @escaping OperationReply) throws(APIError) {
        guard let tags = context.store.state.tags(of: try Self.checked(arn)) else { throw .noResource }
        reply(.success(["tags": Output.tags(tags)]))
    }

    private static func checked(_ arn: String) throws(APIError) -> String {
        guard TextRule.resourceARN.accepts(arn) else { throw .malformed("resourceArn", TextRule.resourceARN.form) }
        return arn
    }

    private func changeTags(
        _ arn: String, _ reply: @escaping OperationReply, _ change: @escaping @Sendable ([String: String]) -> [String: String]
    ) {
        context.write(reply) { transaction throws(APIError) in
            guard let tags = transaction.state.tags(of: arn).map(change) else { throw .noResource }
            guard tags.count <= Input.maximumTags else { throw .tooManyTags(Input.maximumTags) }
            transaction.setTags(tags, of: arn)
        } then: { _ in
            [:]
        }
    }
}

extension StoreState {
    fileprivate func tags(of arn: String) -> [String: String]? {
        stages[arn]?.tags ?? ingestConfigurations[arn]?.tags ?? publicKeys[arn]?.tags
            ?? storageConfigurations[arn]?.tags
    }
}

extension StateTransaction {
    fileprivate mutating func setTags(_ tags: [String: String], of arn: String) {
        if var stage = state.stages[arn] {
            stage.tags = tags
            put(stage)
        } else if var configuration = state.ingestConfigurations[arn] {
            configuration.tags = tags
            put(configuration)
        } else if var key = state.publicKeys[arn] {
            key.tags = tags
            put(key)
        } else if var configuration = state.storageConfigurations[arn] {
            configuration.tags = tags
            put(configuration)
        }
    }
}
