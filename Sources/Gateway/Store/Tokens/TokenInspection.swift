import JWT
import OpenSSL
import Refusals
public import Wire

/// What a token says and what is wrong with it, found offline: for `stagedoor token`.
public struct TokenInspection: Sendable {
    /// One line for each fact, as `name: value`. What a terminal would not show as it stands is
    /// escaped: the token is a stranger's.
    public private(set) var lines: [String] = []
    /// In words; empty when a gateway that knows the key would take the token.
    public private(set) var faults: [String] = []

    /// - Parameter publicKey: a PEM to verify the signature with; without it the signature is not looked at.
    public init(_ token: Secret, publicKey: [UInt8]? = nil, now: WallTime) {
        do {
            let compact = try CompactToken(parsing: token.reveal())
            lines.append("kid: \(compact.keyID)")
            // What a gateway looks up by these names it can only have under a name of this form.
            if !ResourceName.isARN(compact.keyID, of: .publicKey) { faults.append(TokenRules.unknownKey.sentence) }
            if let publicKey { verify(compact, publicKey) }
            describe(try ParticipantClaims(parsing: compact.payload), now: now)
        } catch {
            faults.append(error.refusal.sentence)
        }
        lines = lines.map(\.visible)
    }

    private mutating func verify(_ token: CompactToken, _ pem: [UInt8]) {
        guard let key = try? ES384PublicKey(pem: pem) else { return faults.append("The public key is not EC P-384 in PEM.") }
        if key.isValid(token.signature, over: token.signingInput) {
            lines.append("signature: good")
        } else {
            faults.append("The signature is not this key's.")
        }
    }

    private mutating func describe(_ claims: ParticipantClaims, now: WallTime) {
        lines += [
            "participant: \(claims.participantID)", "stage: \(claims.stageARN)", "issued: \(Self.time(claims.issuedAt))",
            "expires: \(Self.time(claims.expiresAt))", "publish: \(claims.allowsPublish)", "subscribe: \(claims.allowsSubscribe)",
            "events_url: \(claims.eventsURL)", "whip_url: \(claims.whipURL)",
        ]
        if !claims.userID.isEmpty { lines.append("user: \(claims.userID)") }
        lines += claims.attributes.sorted { $0.key < $1.key }.map { "attribute \($0.key): \($0.value)" }
        if !ResourceName.isARN(claims.stageARN, of: .stage) { faults.append(RefusalCode.stageDeleted.sentence) }
        switch claims.validity(at: now.secondsSince1970) {
        case .valid: break
        case .expired: faults.append("The token has expired.")
        case .notYet: faults.append("The token is not valid yet.")
        }
    }

    private static func time(_ seconds: Int64) -> String { CivilTime(WallTime(secondsSince1970: seconds)).rfc3339 }
}

extension String {
    /// Control characters move a terminal's cursor and colour its text, format characters turn the direction of a line.
    fileprivate var visible: String {
        unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
