import HTTP
import Wire

/// The `Authorization` header of AWS Signature Version 4:
/// `AWS4-HMAC-SHA256 Credential=ID/date/region/service/aws4_request, SignedHeaders=a;b, Signature=hex`.
struct SignatureV4Authorization: Equatable {
    static let scheme = "AWS4-HMAC-SHA256"
    static let maximumSignedHeaders = 64

    var accessKeyID: String
    /// `20250102/us-east-1/ivs/aws4_request`.
    var scope: String
    var date: String
    var region: String
    var service: String
    /// Lower-case, in the order given.
    var signedHeaders: [String]
    /// 32 bytes.
    var signature: [UInt8]

    init(parsing header: String) throws(SignatureV4Error) {
        guard header.hasPrefix(Self.scheme + " ") else { throw .missing }
        let fields = Self.fields(header.dropFirst(Self.scheme.count + 1))
        guard let credential = fields["Credential"], let names = fields["SignedHeaders"], let hex = fields["Signature"],
            let signature = [UInt8](hexadecimal: hex), signature.count == 32
        else { throw .malformed }
        let parts = credential.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[4] == "aws4_request", (1...128).contains(parts[0].utf8.count), parts[1].utf8.count == 8
        else { throw .malformed }
        signedHeaders = names.split(separator: ";").map { $0.lowercased() }
        guard (1...Self.maximumSignedHeaders).contains(signedHeaders.count), signedHeaders == signedHeaders.sorted() else {
            throw .malformed
        }
        (accessKeyID, date, region, service) = (String(parts[0]), String(parts[1]), String(parts[2]), String(parts[3]))
        scope = parts[1...].joined(separator: "/")
        self.signature = signature
    }

    private static func fields(_ text: Substring) -> [String: Substring] {
        var fields: [String: Substring] = [:]
        for part in text.split(separator: ",") {
            let part = part.drop { $0 == " " }
            guard let equals = part.firstIndex(of: "=") else { continue }
            fields[String(part[..<equals])] = part[part.index(after: equals)...]
        }
        return fields
    }
}
