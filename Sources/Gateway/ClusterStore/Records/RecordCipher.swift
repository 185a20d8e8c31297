import OpenSSL
public import Wire

/// The key of a cluster (`cluster.platformKeyFile`): what is secret in its database is encrypted with it, and every node has it.
public struct PlatformKey: Sendable {
    public static let byteCount = 32

    let secret: Secret

    /// Nil unless there are 32 bytes.
    public init?(_ secret: Secret) {
        guard secret.count == Self.byteCount else { return nil }
        self.secret = secret
    }

    /// A key for one purpose: HMAC-SHA-256 of the purpose with the cluster's key.
    public func derived(for purpose: String) -> Secret {
        Secret(HMAC.sha256(key: secret.reveal(), Array("stagedoor \(purpose) 1".utf8)))
    }
}

/// Encrypts and finds secrets of records with keys that are derived from the cluster's.
struct RecordCipher: Sendable {
    private let cipher: AES256GCM
    private let lookUpKey: Secret
    /// What a node with the same key computes too; it tells nothing about the key.
    let check: String

    init(_ key: PlatformKey) {
        guard let cipher = AES256GCM(key: key.derived(for: "record encryption")) else {
            preconditionFailure("HMAC-SHA-256 gives 32 bytes")
        }
        self.cipher = cipher
        lookUpKey = key.derived(for: "look-up")
        check = Base64.standard.text(of: key.derived(for: "key check").reveal())
    }

    /// - Parameter place: the record's key and the field: the ciphertext opens nowhere else.
    func seal(_ secret: Secret, at place: String) -> String {
        Base64.standard.text(of: cipher.seal(secret.reveal(), context: Array(place.utf8)))
    }

    func open(_ text: String, at place: String) throws(RecordError) -> Secret {
        guard let sealed = Base64.standard.decode(text.utf8), let bytes = cipher.open(sealed, context: Array(place.utf8)) else {
            throw .undecipherable
        }
        return Secret(bytes)
    }

    /// What stands for a secret where it is looked up or compared: nobody without the cluster's key can compute it.
    func lookUp(_ secret: Secret) -> String {
        Base64.standard.text(of: HMAC.sha256(key: lookUpKey.reveal(), secret.reveal()))
    }
}

/// Why a stored record cannot be read.
enum RecordError: Error, Equatable {
    case malformed
    /// Encrypted with another cluster's key, for another record, or changed.
    case undecipherable
}
