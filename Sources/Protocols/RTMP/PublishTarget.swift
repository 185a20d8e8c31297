import Wire

/// Finds application, stream key and query in the many shapes that encoders make of one URL and one key.
///
/// `rtmp://host/app` with a key, `/app/KEY` without one, `/app//KEY`, instance segments `/app/inst/KEY`, a key that holds
/// `/ = & %`, `KEY?query`, `app?query`, a whole URL as publish name: the application is the first path segment, the key what
/// was sent as publish name up to `?`; where that is empty, what follows the application in the URL. Encoders that want a name
/// of their own beside a URL with the key, and those that percent-encode the key, are understood last. White space that was
/// copied along with URL or key is none of either.
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
        let publishName = publishName[...].withoutOuterSpace
        let isURL = publishName.isRTMPURL
        let (name, nameQuery) = (isURL ? publishName.pathOfURL : publishName).pathAndQuery
        let key = isURL ? name.pathSegments.joinedBehindFirst : String(name.withoutOuterSlashes)
        keys = Self.readings(of: key, in: connect)
        query = nameQuery.query(and: connect.query[...])
    }

    private static func readings(of key: String, in connect: ConnectTarget) -> [String] {
        let instance = connect.instance
        var keys: [String] = []
        func add(_ key: String) { if !key.isEmpty, !keys.contains(key) { keys.append(key) } }
        add(key)
        add(instance.isEmpty || key.isEmpty ? instance : instance + "/" + key)
        if key.isEmpty { add(connect.urlInstance) }
        if let last = key.utf8.lastIndex(of: slash) { add(String(key[key.utf8.index(after: last)...])) }
        add(instance)
        for encoded in keys where encoded.utf8.contains(UInt8(ascii: "%")) { add(encoded.decodedKey) }
        return keys.isEmpty ? [""] : keys
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
        let (appPath, appQuery) = app[...].withoutOuterSpace.pathAndQuery
        let (urlPath, urlQuery) = tcURL[...].withoutOuterSpace.pathOfURL.pathAndQuery
        let (appSegments, urlSegments) = (appPath.pathSegments, urlPath.pathSegments)
        let segments = appSegments.isEmpty ? urlSegments : appSegments
        application = String(segments.first ?? "")
        (instance, urlInstance) = (segments.joinedBehindFirst, urlSegments.joinedBehindFirst)
        query = appQuery.query(and: appQuery == urlQuery ? "" : urlQuery)
    }
}

private let slash = UInt8(ascii: "/")
/// Longer names are cut: no key comes near it.
private let maximumTextLength = 2_048

extension String {
    /// A query with `authmod=adobe` or `authmod=llnw`.
    fileprivate var asksForPasswordScheme: Bool { !isEmpty && contains("authmod=") }

    /// The key that is meant, of one that was percent-encoded whole; empty where an escape is malformed.
    fileprivate var decodedKey: String {
        let text = PercentEncoding.decode(self) ?? ""
        return String(text[...].withoutOuterSpace.pathAndQuery.path.withoutOuterSlashes)
    }
}

extension Substring {
    fileprivate var isRTMPURL: Bool { hasPrefix("rtmp://") || hasPrefix("rtmps://") }

    /// What follows the host; everything, when it is no URL.
    fileprivate var pathOfURL: Substring {
        guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")), utf8[colon...].starts(with: "://".utf8) else { return self }
        let rest = utf8[colon...].dropFirst(3)
        return rest.firstIndex(of: slash).map { Substring(rest[$0...]) } ?? ""
    }

    /// What stands before the first `?`, and behind it.
    fileprivate var pathAndQuery: (path: Substring, query: Substring) {
        let text = utf8.count > maximumTextLength ? prefix(maximumTextLength) : self
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (text, "") }
        return (text[..<mark], text[text.utf8.index(after: mark)...])
    }

    /// This query and another one, as far as there is anything in them.
    fileprivate func query(and other: Substring) -> String {
        if isEmpty { return String(other) }
        return other.isEmpty ? String(self) : "\(self)&\(other)"
    }

    fileprivate var pathSegments: [Substring] { utf8.split(separator: slash).map(Substring.init) }

    fileprivate var withoutOuterSlashes: Substring { without { $0 == slash } }

    /// Without spaces, tabs and line ends around it.
    fileprivate var withoutOuterSpace: Substring { without { $0 == 0x20 || (0x09...0x0D).contains($0) } }

    private func without(_ isOuter: (UInt8) -> Bool) -> Substring {
        var rest = utf8
        while let first = rest.first, isOuter(first) { rest.removeFirst() }
        while let last = rest.last, isOuter(last) { rest.removeLast() }
        return Substring(rest)
    }
}

extension [Substring] {
    /// What follows the application.
    fileprivate var joinedBehindFirst: String { dropFirst().joined(separator: "/") }
}
