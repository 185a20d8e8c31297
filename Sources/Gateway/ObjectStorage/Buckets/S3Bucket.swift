import Foundation
import HTTPClient
import OpenSSL
import Settings
import Signatures
import Wire

/// Requests to one bucket of a store that speaks S3, signed: plain PUT with a length, no multipart, no trailers.
struct S3Bucket {
    /// Beside what its length takes: names, TLS, and a store that thinks.
    private static let patience = Duration.seconds(30)
    /// Bytes a second below which an object on its way is given up.
    private static let slowestRate = 16 * 1024
    /// A store that takes nothing any more is waited for so long: what the kernel still has for it,
    /// and its thinking, look the same.
    private static let stall = Duration.seconds(60)

    private let address: S3Address
    private let signer: SignatureV4Signer
    private let certificateAuthority: String

    init(_ settings: StorageSettings, name: String) throws(StorageFault) {
        guard let address = S3Address(settings, bucket: name) else {
            throw .refused("its endpoint in the configuration file is no URL")
        }
        self.address = address
        signer = SignatureV4Signer(try BucketCredentials.find(settings), region: settings.region)
        certificateAuthority = settings.certificateAuthority
    }

    /// - Parameters:
    ///   - hasACL: whether the bucket's owner is to have what is written, whoever wrote it, as IVS writes.
    ///   - now: by the store's clock.
    func put(_ object: StoredObject, hasACL: Bool, now: WallTime) throws(StorageFault) -> HTTPClientRequest {
        let (hash, length) = try object.content.measured()
        var fields = [(name: "Content-Type", value: object.contentType)]
        if hasACL { fields.append((name: "X-Amz-Acl", value: "bucket-owner-full-control")) }
        var request = request("PUT", key: object.key, fields, payloadHash: hash, now: now)
        switch object.content {
        case .bytes(let bytes): request.body = bytes
        case .file(let path): request.bodyFile = HTTPBodyFile(path: path, length: length)
        }
        request.deadline = Self.deadline(ofLength: length)
        request.pace = (bytesPerSecond: Self.slowestRate, within: Self.stall)
        return request
    }

    /// A store that is silent is not waited for as long as the longest object may take.
    func get(key: String, atMost length: Int, now: WallTime) -> HTTPClientRequest {
        var request = request("GET", key: key, payloadHash: Digest.sha256([]), now: now)
        request.maximumBodyLength = length
        request.deadline = Self.deadline(ofLength: length)
        request.pace = (bytesPerSecond: Self.slowestRate, within: Self.patience)
        return request
    }

    static func deadline(ofLength length: Int) -> Duration { patience + .milliseconds(1_000 * length / slowestRate) }

    func delete(key: String, now: WallTime) -> HTTPClientRequest {
        request("DELETE", key: key, payloadHash: Digest.sha256([]), now: now)
    }

    private func request(
        _ method: String, key: String, _ fields: [(name: String, value: String)] = [], payloadHash: [UInt8], now: WallTime
    ) -> HTTPClientRequest {
        let path = address.path(ofKey: key)
        let headers = signer.headers(
            method: method, host: address.host, path: path, headers: fields, payloadHash: payloadHash, now: now)
        var request = HTTPClientRequest(method: method, url: address.origin + path, headers: headers)
        request.maximumBodyLength = S3Answer.maximumLength
        request.tls.certificateAuthority = certificateAuthority
        request.deadline = Self.patience
        return request
    }
}

extension StoredObject.Content {
    private static let chunk = 256 * 1024

    /// SHA-256 and length, read once and in parts.
    fileprivate func measured() throws(StorageFault) -> (hash: [UInt8], length: Int) {
        switch self {
        case .bytes(let bytes): return (Digest.sha256(bytes), bytes.count)
        case .file(let path):
            guard let file = unsafe fopen(path, "re") else { throw .system("read", path) }
            defer { unsafe fclose(file) }
            var digest = RunningSHA256()
            var length = 0
            var part = [UInt8](repeating: 0, count: Self.chunk)
            while true {
                let count = unsafe fread(&part, 1, part.count, file)
                guard count > 0 else { break }
                digest.add(part[..<count])
                length += count
            }
            guard unsafe ferror(file) == 0 else { throw .system("read", path) }
            return (digest.finish(), length)
        }
    }
}
