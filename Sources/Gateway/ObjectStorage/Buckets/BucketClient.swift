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

    /// Whoever has a bucket tried out waits for the reason why it cannot be written to: the console for ten seconds, the API for
    /// thirty. A clock that is wrong takes a second try.
    private static let probePatience = Duration.seconds(4)

    /// A segment of a minute at the contract's highest bitrate.
    static let maximumReadLength = 64 << 20
    /// Objects that are read from stores at once; each may lie in memory whole.
    static let maximumReads = 4

    private let http: HTTPClient
    private var reads = 0
    private let buckets: () -> [String: StorageSettings]
    /// How far the stores' clocks are from ours, by bucket: where one said so.
    private var skews: [String: Duration] = [:]
    /// The endpoints that refused an ACL, by bucket: they are sent none any more.
    private var withoutACL: [String: String] = [:]

    init(loop: EventLoop, buckets: @escaping () -> [String: StorageSettings]) {
        http = HTTPClient(loop: loop)
        self.buckets = buckets
    }

    /// - Parameters:
    ///   - time: in which a store has to answer; nil for as long as the object's length may take.
    ///   - done: called once, at once or later on the loop; nil when the bucket has the object.
    func put(_ object: StoredObject, into bucket: String, within time: Duration? = nil, done: @escaping Completion) {
        guard let settings = buckets().bucket(bucket) else {
            return done(.refused("the configuration file names no bucket \(bucket)"))
        }
        do throws(StorageFault) {
            guard settings.directory.isEmpty else {
                try FolderBucket(settings.directory).put(object)
                return done(nil)
            }
            let hasACL = withoutACL[bucket] != settings.endpoint
            var request = try S3Bucket(settings, name: bucket).put(object, hasACL: hasACL, now: now(of: bucket))
            if let time { request.deadline = time }
            // The client goes before its transfers' answers, never after.
            http.send(request) { [unowned self] result in
                guard hasACL, Self.refusesACL(result) else { return done(fault(result, bucket)) }
                withoutACL[bucket] = settings.endpoint
                put(object, into: bucket, within: time, done: done)
            }
        } catch {
            done(error)
        }
    }

    /// - Parameter done: called once, at once or later on the loop.
    func read(_ key: String, from bucket: String, done: @escaping (Result<[UInt8], StorageFault>) -> Void) {
        guard let settings = buckets().bucket(bucket) else {
            return done(.failure(.refused("the configuration file names no bucket \(bucket)")))
        }
        guard settings.directory.isEmpty else { return done(Self.read(key, inFolder: settings.directory)) }
        readFromStore(key, S3Place(name: bucket, settings: settings), done)
    }

    private struct S3Place {
        var name: String
        var settings: StorageSettings
    }

    private static func read(_ key: String, inFolder path: String) -> Result<[UInt8], StorageFault> {
        Result { () throws(StorageFault) in try FolderBucket(path).read(key: key, atMost: maximumReadLength) }
    }

    private func readFromStore(
        _ key: String, _ place: S3Place, _ done: @escaping (Result<[UInt8], StorageFault>) -> Void
    ) {
        guard reads < Self.maximumReads else { return done(.failure(.transient("too many objects are being read"))) }
        do throws(StorageFault) {
            let request = try S3Bucket(place.settings, name: place.name)
                .get(key: key, atMost: Self.maximumReadLength, now: now(of: place.name))
            reads += 1
            http.send(request) { [unowned self] result in
                reads -= 1
                let fault = fault(result, place.name)
                guard fault == nil, case .success(let response) = result else {
                    return done(.failure(fault ?? .transient("the store did not answer")))
                }
                done(.success(response.body))
            }
        } catch {
            done(.failure(error))
        }
    }

    /// Whether the bucket can be written to; a clock that is wrong gets a second try.
    func tryOut(_ bucket: String, done: @escaping Completion) {
        let known = skews[bucket]
        put(Self.probe, into: bucket, within: Self.probePatience) { [unowned self] fault in
            guard case .transient = fault, skews[bucket] != known else { return tried(bucket, fault, done) }
            put(Self.probe, into: bucket, within: Self.probePatience) { [unowned self] fault in tried(bucket, fault, done) }
        }
    }

    private func tried(_ bucket: String, _ fault: StorageFault?, _ done: @escaping Completion) {
        if fault == nil { removeProbe(from: bucket) }
        done(fault)
    }

    /// Nobody minds if that is not allowed: recordings need no right to delete.
    private func removeProbe(from bucket: String) {
        guard let settings = buckets().bucket(bucket) else { return }
        guard settings.directory.isEmpty else { return FolderBucket(settings.directory).delete(key: Self.probe.key) }
        guard let store = try? S3Bucket(settings, name: bucket) else { return }
        http.send(store.delete(key: Self.probe.key, now: now(of: bucket))) { _ in }
    }

    private func now(of bucket: String) -> WallTime { EventLoop.wallNow() + (skews[bucket] ?? .zero) }

    private static func refusesACL(_ result: Result<HTTPClientResponse, HTTPClientError>) -> Bool {
        guard case .success(let response) = result else { return false }
        return S3Answer(response).refusesACL
    }

    private func fault(_ result: Result<HTTPClientResponse, HTTPClientError>, _ bucket: String) -> StorageFault? {
        switch result {
        case .success(let response):
            let answer = S3Answer(response)
            if answer.fault != nil, let time = answer.serverTime { skews[bucket] = time - EventLoop.wallNow() }
            return answer.fault
        case .failure(let error): return StorageFault(error)
        }
    }
}

extension S3Answer {
    fileprivate init(_ response: HTTPClientResponse) {
        self.init(status: response.status, body: response.body, date: response["Date"])
    }
}

extension StorageFault {
    init(_ error: HTTPClientError) {
        switch error {
        case .invalidRequest(let words): self = .refused(words)
        case .timedOut: self = .transient("the store did not answer in time")
        case .tooLong: self = .transient("the store's answer is none")
        // Certificates are renewed.
        case .untrusted(let words): self = .transient("the store's certificate is not trusted: \(words)")
        case .failed(let words): self = .transient("the store cannot be reached: \(words)")
        case .overloaded: self = .transient("too many requests are under way")
        }
    }
}
