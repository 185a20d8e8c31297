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

    /// - Parameter publishName: the first argument of `publish`.
    init(_ connect: ConnectTarget, publishName: String) {
        application = connect.application
        let isURL = publishName.isRTMPURL
        let (name, nameQuery) = (isURL ? publishName.pathOfURL : publishName[...]).pathAndQuery
        let key = isURL ? name.pathSegments.joinedBehindFirst : String(name.withoutOuterSlashes)
        let instance = connect.instance
        var keys: [String] = []
        func add(_ key: String) { if !key.isEmpty, !keys.contains(key) { keys.append(key) } }
        add(key)
        add(instance.isEmpty || key.isEmpty ? instance : instance + "/" + key)
        if key.isEmpty { add(connect.urlInstance) }
        add(String(key[...].pathSegments.last ?? ""))
        self.keys = keys.isEmpty ? [""] : keys
        query = [String(nameQuery), connect.query].filter { !$0.isEmpty }.joined(separator: "&")
    }

    /// A user and password scheme that we do not have.
    public var asksForPasswordScheme: Bool { query.asksForPasswordScheme }
}

/// What `app` and URL of a `connect` say: the application, and what may be a key or a part of one.
///
/// Read once, at `connect`; every `publish` makes a `PublishTarget` of it.
public struct ConnectTarget: Equatable, Sendable {
    /// The first segment of the app's path; of the URL's where that is empty.
    public let application: String
    /// What follows it there.
    fileprivate let instance: String
    /// What follows the URL's first segment.
    fileprivate let urlInstance: String
    /// Everything that stood behind a `?`, joined by `&`.
    fileprivate let query: String

    /// The segments are not kept: where app and URL are full of slashes they take 64 KB of a stranger's connection.
    init(app: String, tcURL: String) {
        let (appPath, appQuery) = app[...].pathAndQuery
        let (urlPath, urlQuery) = tcURL.pathOfURL.pathAndQuery
        let (appSegments, urlSegments) = (appPath.pathSegments, urlPath.pathSegments)
        let segments = appSegments.isEmpty ? urlSegments : appSegments
        application = String(segments.first ?? "")
        (instance, urlInstance) = (segments.joinedBehindFirst, urlSegments.joinedBehindFirst)
        query = [appQuery, appQuery == urlQuery ? "" : urlQuery].filter { !$0.isEmpty }.joined(separator: "&")
    }
}

private let slash = UInt8(ascii: "/")
/// Longer names are cut: no key comes near it.
private let maximumTextLength = 2_048

extension String {
    fileprivate var isRTMPURL: Bool { hasPrefix("rtmp://") || hasPrefix("rtmps://") }

    /// What follows the host; everything, when it is no URL.
    fileprivate var pathOfURL: Substring {
        guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")), utf8[colon...].starts(with: "://".utf8) else {
            return self[...]
        }
        let rest = utf8[colon...].dropFirst(3)
        return rest.firstIndex(of: slash).map { Substring(rest[$0...]) } ?? ""
    }

    /// A query with `authmod=adobe` or `authmod=llnw`.
    fileprivate var asksForPasswordScheme: Bool { !isEmpty && contains("authmod=") }
}

extension Substring {
    /// What stands before the first `?`, and behind it.
    fileprivate var pathAndQuery: (path: Substring, query: Substring) {
        let text = utf8.count > maximumTextLength ? prefix(maximumTextLength) : self
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (text, "") }
        return (text[..<mark], text[text.utf8.index(after: mark)...])
    }

    fileprivate var pathSegments: [Substring] { utf8.split(separator: slash).map(Substring.init) }

    fileprivate var withoutOuterSlashes: Substring {
        var rest = utf8
        while rest.first == slash { rest.removeFirst() }
        while rest.last == slash { rest.removeLast() }
        return Substring(rest)
    }
}

extension [Substring] {
    /// What follows the application.
    fileprivate var joinedBehindFirst: String { dropFirst().joined(separator: "/") }
}
