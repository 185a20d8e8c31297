import HTTP
import JSON
import OpenSSL
import Wire

/// One page of a list: how many, and after which item. Tokens are opaque to clients and good for their own list only.
struct Page: Sendable {
    static let defaultCount = 50
    private static let mark = "p1"

    var count: Int
    /// What the token of the page before it says: the key of its last item.
    var after: String?
    private let list: String

    /// - Parameters:
    ///   - maximum: of items on a page.
    ///   - standard: what there is of them on a page where the request does not say.
    init(_ input: Input, list: String, maximum: Int = 100, standard: Int = Page.defaultCount) throws(APIError) {
        self.list = list
        count = try input.optionalInteger("maxResults", 1...maximum) ?? standard
        guard let token = try input.optionalText("nextToken", .pageToken), !token.isEmpty else { return }
        guard let key = Self.key(token, list: list) else { throw .foreignPage }
        after = key
    }

    /// `member`: the items of this page, and `nextToken` if there are more.
    ///
    /// - Parameter items: up to one more than `count`, in order.
    func output<Item>(
        _ member: String, _ items: [Item], key: (Item) -> String, encode: (Item) -> JSONValue
    ) -> JSONObject {
        let shown = items.prefix(count)
        var output: JSONObject = [member: .array(shown.map(encode))]
        if items.count > count, let last = shown.last { output["nextToken"] = .string(token(after: key(last))) }
        return output
    }

    /// Items of a list kept in memory, in the order of their keys: those of this page, and one more.
    func items<Item>(of all: some Sequence<Item>, key: @escaping (Item) -> String) -> [Item] {
        let rest = all.lazy.filter { item in after.map { $0 < key(item) } ?? true }
        return rest.least(count + 1) { key($0) < key($1) }
    }

    private func token(after key: String) -> String {
        // Hexadecimal, as every character of it is in the model's pattern.
        String(hexadecimal: "\(Self.mark)\(list) \(key)".utf8)
    }

    private static func key(_ token: String, list: String) -> String? {
        guard let bytes = [UInt8](hexadecimal: token) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        let prefix = "\(mark)\(list) "
        guard text.hasPrefix(prefix) else { return nil }
        return String(text.dropFirst(prefix.count))
    }
}
