/// Finds application, stream key and query in the many shapes that encoders make of one URL and one key.
///
/// `rtmp://host/app` with a key, `/app/KEY` without one, `/app//KEY`, instance segments `/app/inst/KEY`, a key that holds
/// `/ = & %`, `KEY?query`, `app?query`, a whole URL as publish name: the application is the first path segment, the key what
/// was sent as publish name up to `?`; where that is empty, what follows the application in the URL.
public struct PublishTarget: Equatable, Sendable {
    /// The first path segment.
    public var application: String
    /// What may be the key, likeliest first; at least one, perhaps empty.
    public var keys: [String]
    /// Everything that stood behind a `?`, joined by `&`.
    public var query: String

    /// Longer names are cut: no key comes near it.
    static let maximumTextLength = 2_048

    /// - Parameter publishName: the first argument of `publish`.
    public init(connect: ConnectRequest, publishName: String) {
        self.init(app: connect.app, tcURL: connect.tcURL, publishName: publishName)
    }

    init(app: String, tcURL: String, publishName: String) {
        let (appPath, appQuery) = Self.split(app[...])
        let (urlPath, urlQuery) = Self.split(Self.path(ofURL: tcURL))
        let isURL = Self.isURL(publishName)
        let (name, nameQuery) = Self.split(isURL ? Self.path(ofURL: publishName) : publishName[...])
        let (urlSegments, appSegments) = (Self.segments(urlPath), Self.segments(appPath))
        let segments = appSegments.isEmpty ? urlSegments : appSegments
        application = String(segments.first ?? "")

        let key = isURL ? Self.behindFirst(of: Self.segments(name)) : String(Self.trim(name))
        let instance = Self.behindFirst(of: segments)
        var keys: [String] = []
        func add(_ key: String) { if !key.isEmpty, !keys.contains(key) { keys.append(key) } }
        add(key)
        add(instance.isEmpty || key.isEmpty ? instance : instance + "/" + key)
        if key.isEmpty { add(Self.behindFirst(of: urlSegments)) }
        add(String(Self.segments(key[...]).last ?? ""))
        self.keys = keys.isEmpty ? [""] : keys
        query = [nameQuery, appQuery, appQuery == urlQuery ? "" : urlQuery].filter { !$0.isEmpty }.joined(separator: "&")
    }

    /// A user and password scheme that we do not have (`authmod=adobe`, `authmod=llnw`).
    public var asksForPasswordScheme: Bool { !query.isEmpty && query.contains("authmod=") }

    private static func split(_ text: Substring) -> (path: Substring, query: Substring) {
        let text = text.utf8.count > maximumTextLength ? text.prefix(maximumTextLength) : text
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (text, "") }
        return (text[..<mark], text[text.utf8.index(after: mark)...])
    }

    private static func isURL(_ text: String) -> Bool { text.hasPrefix("rtmp://") || text.hasPrefix("rtmps://") }

    /// What follows the host; everything, when it is no URL.
    private static func path(ofURL url: String) -> Substring {
        let bytes = url.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return url[...]
        }
        let rest = bytes[colon...].dropFirst(3)
        return rest.firstIndex(of: slash).map { Substring(rest[$0...]) } ?? ""
    }

    private static func segments(_ path: Substring) -> [Substring] {
        path.utf8.split(separator: slash).map(Substring.init)
    }

    private static func behindFirst(of segments: [Substring]) -> String { segments.dropFirst().joined(separator: "/") }

    private static func trim(_ text: Substring) -> Substring {
        var rest = text.utf8
        while rest.first == slash { rest.removeFirst() }
        while rest.last == slash { rest.removeLast() }
        return Substring(rest)
    }

    private static let slash = UInt8(ascii: "/")
}
