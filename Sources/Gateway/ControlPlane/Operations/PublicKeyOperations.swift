import JSON
import OpenSSL
import Settings
import Store
import Wire

/// Public keys whose tokens are taken beside our own.
struct PublicKeyOperations: Sendable {
    let context: OperationContext

    func importPublicKey(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let material = try input.text("publicKeyMaterial", .any)
        let (name, tags) = (try input.optionalText("name", .name) ?? "", try input.tags() ?? [:])
        let key: ES384PublicKey
        do {
            key = try ES384PublicKey(pem: Array(material.utf8))
        } catch {
            throw .validation(error.words)
        }
        let record = PublicKey(
            arn: context.settings.names.arn(.publicKey, Identifier.uuid()), name: name,
            material: String(decoding: key.pem, as: UTF8.self),
            fingerprint: String(hexadecimal: Digest.md5(key.der), separator: ":"), tags: tags, createdAt: context.wallNow())
        let maximum = context.settings.quotas.publicKeys
        context.write(reply) { transaction throws(APIError) in
            let keys = transaction.state.publicKeys
            guard !keys.values.contains(where: { $0.material == record.material }) else {
                throw .conflict("This public key has been imported already.")
            }
            guard keys.count < maximum else { throw .quota("There are \(maximum) public keys already.") }
            transaction.put(record)
        } then: { _ in
            ["publicKey": Output.publicKey(record)]
        }
    }

    func getPublicKey(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        guard let key = context.store.state.publicKeys[try input.text("arn", .arn(.publicKey))] else { throw .noPublicKey }
        reply(.success(["publicKey": Output.publicKey(key)]))
    }

    func listPublicKeys(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let page = try Page(input, list: "publicKeys")
        let keys = page.items(of: context.store.state.publicKeys.values, key: \.arn)
        reply(.success(page.output("publicKeys", keys, key: \.arn) { Output.publicKeySummary($0) }))
    }

    /// Uses of the pair's tokens fail from now on, and what lives by them ends.
    func deletePublicKey(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let arn = try input.text("arn", .arn(.publicKey))
        context.write(reply) { transaction throws(APIError) in
            guard transaction.state.publicKeys[arn] != nil else { throw .noPublicKey }
            transaction.removePublicKey(arn)
        } then: { [self] _ in
            context.leases.endRevoked()
            return [:]
        }
    }
}

extension ES384Error {
    fileprivate var words: String {
        switch self {
        case .malformed, .failed: "publicKeyMaterial is not one PEM block BEGIN PUBLIC KEY."
        case .wrongCurve: "publicKeyMaterial must be an EC key on the curve P-384 (secp384r1)."
        case .offCurve: "publicKeyMaterial holds no point on the curve P-384 (secp384r1): copy it again."
        }
    }
}
