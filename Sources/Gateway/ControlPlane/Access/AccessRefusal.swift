/// Why a request of CloudWatch's API is not answered, for whichever of its protocols the request came by.
public struct AccessRefusal: Equatable, Sendable {
    /// The error code that AWS gives, such as `ThrottlingException`.
    public var type: String
    /// The HTTP status.
    public var status: Int
    /// One sentence for the caller.
    public var message: String
}
