/// The character classes of RFC 9110 §5.6.2 and RFC 3986 §2.
extension UInt8 {
    /// `tchar`: what methods and field names are made of.
    var isTokenCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }

    /// What a field value may hold: visible characters, space, tab and bytes beyond ASCII.
    var isFieldValueCharacter: Bool { self >= 0x20 && self != 0x7F || self == 0x09 }

    var isDigit: Bool { (0x30...0x39).contains(self) }
}

extension StringProtocol {
    var isToken: Bool { !isEmpty && utf8.allSatisfy(\.isTokenCharacter) }
}
