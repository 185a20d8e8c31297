import EventLoop
import HTTPClient
import Settings
import Wire

/// Writes objects into the buckets of the configuration file. Confined to its loop, which waits for folders' disks.
final class BucketClient {
    typealias Completion = (StorageFault?) -> Void

    /// Written and deleted to learn whether a bucket can be written to, as HeadBucket asks for a right that nothing else needs.
    private static let probe = StoredObject(
        key: "stagedoor-was-here.txt", contentType: "text/plain",
        content: .bytes(Array("Stagedoor looked whether it may write here. This file may be deleted.\n".utf8)))

    private let http: HTTPClient
    private let buckets: () -> [String: StorageSettings]
    /// How far the stores' clocks are from ours, by bucket: where one said so.
    private var skews: [String: Duration] = [:]

    init(loop: EventLoop, buckets: @escaping () -> [String: StorageSettings]) {
        http = HTTPClient(loop: loop)
        self.buckets = buckets
    }

    /// - Parameter done: called once, at once or later on the loop; nil when the bucket has the object.
    func put(_ object: StoredObject, into bucket: String, done: @escaping Completion) {
        guard let settings = buckets().bucket(bucket) else {
            return done(.final("the configuration file names no bucket \(bucket)"))
        }
        do throws(StorageFault) {
            guard settings.directory.isEmpty else {
                try FolderBucket(settings.directory).put(object)
                return done(nil)
            }
            let request = try S3Bucket(settings, name: bucket).put(object, now: now(of: bucket))
            // The client goes before its transfers' answers, never after.
            http.send(request) { [unowned self] result in done(fault(result, bucket)) }
        } catch {
            done(error)
        }
    }

    /// Whether the bucket can be written to; a clock that is wrong gets a second try.
    func tryOut(_ bucket: String, done: @escaping Completion) {
        let known = skews[bucket]
        put(Self.probe, into: bucket) { [unowned self] fault in
            guard case .transient = fault, skews[bucket] != known else { return tried(bucket, fault, done) }
            put(Self.probe, into: bucket) { [unowned self] fault in tried(bucket, fault, done) }
        }
    }

    private func tried(_ bucket: String, _ fault: StorageFault?, _ done: @escaping Completion) {
        if fault == nil { removeProbe(from: bucket) }
        done(fault)
    }

    /// Nobody minds where it is not allowed: a right to delete is none that recordings need.
    private func removeProbe(from bucket: String) {
        guard let settings = buckets().bucket(bucket) else { return }
        guard settings.directory.isEmpty else { return FolderBucket(settings.directory).delete(key: Self.probe.key) }
        guard let store = try? S3Bucket(settings, name: bucket) else { return }
        http.send(store.delete(key: Self.probe.key, now: now(of: bucket))) { _ in }
    }

    private func now(of bucket: String) -> WallTime { EventLoop.wallNow() + (skews[bucket] ?? .zero) }

    private func fault(_ result: Result<HTTPClientResponse, HTTPClientError>, _ bucket: String) -> StorageFault? {
        switch result {
        case .success(let response):
            let answer = S3Answer(status: response.status, body: response.body)
            if answer.fault != nil, let time = answer.serverTime { skews[bucket] = time - EventLoop.wallNow() }
            return answer.fault
        case .failure(let error): return StorageFault(error)
        }
    }
}

extension StorageFault {
    init(_ error: HTTPClientError) {
        switch error {
        case .invalidRequest(let words): self = .final(words)
        case .timedOut: self = .transient("the store did not answer in time")
        case .tooLong: self = .transient("the store's answer is none")
        // Certificates are renewed.
        case .untrusted(let words): self = .transient("the store's certificate is not trusted: \(words)")
        case .failed(let words): self = .transient("the store cannot be reached: \(words)")
        case .overloaded: self = .transient("too many requests are under way")
        }
    }
}
