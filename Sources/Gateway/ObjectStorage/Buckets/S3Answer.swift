import Foundation
import Wire

/// What a store that speaks S3 answered: the status, and the error that its body tells.
public struct S3Answer: Equatable, Sendable {
    /// Bytes of an error's text that are looked at.
    static let maximumLength = 16 * 1024
    /// Characters of what the store says that are passed on.
    private static let maximumWords = 300
    private static let skewed = "RequestTimeTooSkewed"

    var status: Int
    /// `AccessDenied`, `NoSuchBucket`, …; empty where the body tells none.
    var code: String
    var message: String
    /// The store's clock, where the answer tells it: ours is wrong then.
    var serverTime: WallTime?

    /// - Parameter date: the answer's `Date`, which is the store's clock where an error does not tell it, as MinIO's.
    public init(status: Int, body: [UInt8], date: String? = nil) {
        self.status = status
        let text = String(decoding: body.prefix(Self.maximumLength), as: UTF8.self)
        code = Self.element("Code", in: text)
        message = Self.element("Message", in: text)
        let stamp = Self.element("ServerTime", in: text).filter { $0 != "-" && $0 != ":" }
        serverTime = WallTime(iso8601Basic: stamp)
        if serverTime == nil, code == Self.skewed, let date { serverTime = WallTime(httpDate: date) }
    }

    /// Whether the store takes no such ACL: Cloudflare's R2 answers 501, Backblaze's B2 and buckets without ACLs 400.
    var refusesACL: Bool {
        let isRefusal =
            switch status {
            case 400: code == "InvalidArgument" || code == "AccessControlListNotSupported"
            case 501: code == "NotImplemented"
            default: false
            }
        return isRefusal && message.lowercased().contains("acl")
    }

    /// Nil where the object is stored.
    public var fault: StorageFault? {
        if (200...299).contains(status) { return nil }
        let words = "the store answered \(status)" + (code.isEmpty ? "" : " \(code)") + (message.isEmpty ? "" : ": \(message)")
        return isPassing ? .transient(words) : .refused(words)
    }

    /// Whether the same request may go well later.
    private var isPassing: Bool {
        switch status {
        // What it does not know it will not know later.
        case 501: false
        case 408, 429, 500...: true
        // A body that came too slowly; the clock, which is set right by the answer; two writers of one key at once.
        case 400: code == "RequestTimeout"
        case 403: code == Self.skewed
        case 409: true
        default: false
        }
    }

    /// The text of the first element of that name. These answers are flat, so that no tree is needed.
    private static func element(_ name: String, in text: String) -> String {
        guard let start = text.range(of: "<\(name)>"),
            let end = text.range(of: "</\(name)>", range: start.upperBound..<text.endIndex)
        else { return "" }
        let value = text[start.upperBound..<end.lowerBound].prefix(maximumWords)
        return String(String.UnicodeScalarView(value.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
    }
}
