import COpenSSL

/// Why a key or signature of ES384 was not taken.
public enum ES384Error: Error, Equatable, Sendable {
    /// Not a PEM key of the expected kind.
    case malformed
    /// A key, but not EC P-384.
    case wrongCurve
    /// An EC key whose point does not lie on P-384.
    case offCurve
    /// OpenSSL failed at something it should not.
    case failed

    /// Empties OpenSSL's error queue; `pointError` if the queue blames the point.
    static func takingQueue(pointError: ES384Error? = nil, otherwise: ES384Error) -> ES384Error {
        var found = otherwise
        while case let code = ERR_get_error(), code != 0 {
            guard let pointError else { continue }
            let reason = CInt(truncatingIfNeeded: code & 0x7F_FFFF)
            if (code >> 23) & 0xFF == UInt(ERR_LIB_EC),
                reason == EC_R_POINT_IS_NOT_ON_CURVE || reason == EC_R_INVALID_COMPRESSED_POINT
            {
                found = pointError
            }
        }
        return found
    }
}
