import Settings
import Wire

/// The rules between the keys of buckets.
extension StagedoorConfiguration {
    var storageProblems: [Problem] {
        storage.sorted { $0.key < $1.key }.flatMap { name, settings in
            problems(of: settings, called: settings.bucket.isEmpty ? name : settings.bucket).map { key, message in
                Problem(key: key.isEmpty ? "storage.\(name)" : "storage.\(name).\(key)", message: message)
            }
        }
    }

    /// By key of the entry; empty for the entry's own name.
    private func problems(of settings: StorageSettings, called bucket: String) -> [(key: String, message: String)] {
        var problems: [(String, String)] = []
        if !Self.isBucketName(bucket) {
            let message = "\"\(bucket.prefix(80))\" is not taken: expected a bucket's name, 3 to 63 of a to z, 0 to 9, - and ."
            problems.append((settings.bucket.isEmpty ? "" : "bucket", message))
        }
        if storage.values.count(where: { $0.bucket == bucket }) + (storage[bucket]?.bucket == "" ? 1 : 0) > 1 {
            problems.append((settings.bucket.isEmpty ? "" : "bucket", "another entry has a bucket of this name"))
        }
        if !settings.directory.isEmpty {
            let isRemote = !settings.endpoint.isEmpty || !settings.accessKey.isEmpty || !settings.secretKey.isEmpty
            if isRemote { problems.append(("directory", "has no endpoint and no keys: a bucket is a folder or in a store")) }
            if !settings.directory.hasPrefix("/") { problems.append(("directory", "is not taken: expected a path from /")) }
        }
        if settings.accessKey.isEmpty != settings.secretKey.isEmpty {
            problems.append((settings.accessKey.isEmpty ? "accessKey" : "secretKey", "is needed: the two come together"))
        }
        return problems
    }

    /// `S3BucketName` of the API model.
    private static func isBucketName(_ text: String) -> Bool {
        (3...63).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x2E }
    }
}
