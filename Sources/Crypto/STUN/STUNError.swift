/// Why a datagram got no binding response. None of these is ever answered.
public enum STUNError: Error, Equatable, Sendable {
    /// Not a message of RFC 8489 as the pre-check walks it.
    case malformed
    /// A method other than Binding, or no request.
    case notABindingRequest
    /// No USERNAME, or one whose first part is no ufrag of ours.
    case unknownUsername
    /// MESSAGE-INTEGRITY is missing or made with another password.
    case unauthorized
    /// FINGERPRINT is missing or wrong.
    case badFingerprint
    /// The reply did not fit, or libnice failed.
    case failed
}
