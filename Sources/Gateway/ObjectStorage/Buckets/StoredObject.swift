/// An object on its way into a bucket.
public struct StoredObject: Equatable, Sendable {
    public enum Content: Equatable, Sendable {
        case bytes([UInt8])
        /// A file that nobody changes any more, by its path; it may be gone once the object is stored.
        case file(String)
    }

    /// `stage/session/participant/…`: names between slashes, none of them empty or dots alone.
    public var key: String
    public var contentType: String
    public var content: Content
    /// It is soon replaced, and is made again after a crash: no folder's disk is forced for it.
    public var isProvisional: Bool

    public init(key: String, contentType: String, content: Content, isProvisional: Bool = false) {
        (self.key, self.contentType, self.content, self.isProvisional) = (key, contentType, content, isProvisional)
    }
}
