import Foundation
import Settings
import Signatures
import Wire

/// Who writes to a bucket: the file's keys, or those that the environment gives to every program that speaks to AWS.
enum BucketCredentials {
    /// - Throws: `.refused` when neither names any.
    static func find(
        _ settings: StorageSettings, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(StorageFault) -> SignatureV4Signer.Credentials {
        if !settings.accessKey.isEmpty {
            return SignatureV4Signer.Credentials(accessKeyID: settings.accessKey, secret: settings.secretKey)
        }
        guard let id = environment["AWS_ACCESS_KEY_ID"], let secret = environment["AWS_SECRET_ACCESS_KEY"], !id.isEmpty else {
            throw .refused(
                "the configuration file has no accessKey for it, and the environment no AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            )
        }
        return SignatureV4Signer.Credentials(
            accessKeyID: id, secret: Secret(secret), sessionToken: Secret(environment["AWS_SESSION_TOKEN"] ?? ""))
    }
}
