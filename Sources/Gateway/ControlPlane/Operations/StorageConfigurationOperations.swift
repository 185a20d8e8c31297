import JSON
import Settings
import Store

/// Storage configurations: buckets of the configuration file that recordings may be written to.
struct StorageConfigurationOperations: Sendable {
    let context: OperationContext

    /// The bucket is tried before it is taken: that nothing can be written there is not to be found out by the first recording.
    func createStorageConfiguration(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        guard let s3 = try input.optionalStructure("s3") else { throw .validation("s3 is required.") }
        let bucket = try s3.text("bucketName", .bucketName)
        let made = StorageConfiguration(
            arn: context.settings.names.arn(.storageConfiguration, Identifier.resource()),
            name: try input.optionalText("name", .name) ?? "", bucketName: bucket, tags: try input.tags() ?? [:],
            createdAt: context.wallNow())
        let maximum = context.settings.quotas.storageConfigurations
        context.tryBucket(bucket) { [context] verdict in
            if let refusal = APIError(verdict, bucket: bucket) { return reply(.failure(refusal)) }
            context.write(reply) { transaction throws(APIError) in
                guard transaction.state.storageConfigurations.count < maximum else {
                    throw .quota("There are \(maximum) storage configurations already.")
                }
                transaction.put(made)
            } then: { _ in
                ["storageConfiguration": Output.storageConfiguration(made)]
            }
        }
    }

    func getStorageConfiguration(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let arn = try input.text("arn", .arn(.storageConfiguration))
        guard let configuration = context.store.state.storageConfigurations[arn] else { throw .noStorageConfiguration }
        reply(.success(["storageConfiguration": Output.storageConfiguration(configuration)]))
    }

    func listStorageConfigurations(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        // The model's default is the quota, or 100 where that is less.
        let page = try Page(input, list: "storageConfigurations", standard: 100)
        let configurations = page.items(of: context.store.state.storageConfigurations.values, key: \.arn)
        reply(.success(page.output("storageConfigurations", configurations, key: \.arn, encode: Output.storageConfiguration)))
    }

    /// Stages that record there go on saying so: what they would record from then on fails to start.
    func deleteStorageConfiguration(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let arn = try input.text("arn", .arn(.storageConfiguration))
        let stages = context.store.state.stages.values.filter { $0.recording.storageARN == arn }.map(\.arn)
        context.isRecording(onStages: stages, reply) { [context] isRecording in
            context.write(reply) { transaction throws(APIError) in
                guard transaction.state.storageConfigurations[arn] != nil else { throw .noStorageConfiguration }
                guard !isRecording else {
                    throw .conflict("Participants are being recorded there: switch it off at their stages, or end them first.")
                }
                transaction.removeStorageConfiguration(arn)
            } then: { _ in
                [:]
            }
        }
    }
}

/// Whether recordings can be written to a bucket of that name.
public enum BucketVerdict: Equatable, Sendable {
    case writable
    /// The configuration file does not name it.
    case unknown
    /// Why nothing can be written there, as a sentence.
    case unwritable(String)
}

/// Tries whether a bucket can be written to; answers later, on any thread, exactly once.
public typealias BucketTrial = @Sendable (_ bucket: String, _ reply: @escaping @Sendable (BucketVerdict) -> Void) -> Void

extension APIError {
    fileprivate init?(_ verdict: BucketVerdict, bucket: String) {
        switch verdict {
        case .writable: return nil
        case .unknown:
            self = .validation("The configuration file names no bucket \(bucket): add it there under storage, and reload.")
        case .unwritable(let sentence): self = .conflict("The bucket \(bucket) cannot be written to: \(sentence)")
        }
    }
}
