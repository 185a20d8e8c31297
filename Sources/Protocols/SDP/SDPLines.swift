/// Which line ends a description may have. RFC 8866 §5 writes CRLF and asks parsers to take a single LF as well.
public enum LineEndings: Sendable { case crlf, crlfOrLF }

/// Cuts a description or fragment into `<type>=<value>` lines, checked and bounded.
struct SDPLines {
    struct Line {
        var number: Int
        var type: Unicode.Scalar
        var value: Substring

        /// What the line's value means; nil stands for one that does not follow its grammar.
        func checked<Meaning>(_ meaning: Meaning?) throws(SDPError) -> Meaning {
            guard let meaning else { throw .malformedLine(line: number) }
            return meaning
        }
    }

    private(set) var lines: [Line] = []

    init(_ bytes: [UInt8], endings: LineEndings) throws(SDPError) {
        guard bytes.count <= SessionDescription.maximumByteCount else { throw .tooLarge }
        var start = 0
        var number = 0
        while start < bytes.count {
            number += 1
            guard number <= SessionDescription.maximumLineCount else { throw .tooManyLines }
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            let text = try Self.text(of: bytes[start..<end], isLast: end == bytes.count, number: number, endings: endings)
            start = end + 1
            // Empty lines at the very end come from clients that print the description once more.
            if text.isEmpty, bytes[min(start, bytes.count)...].allSatisfy({ $0 == 13 || $0 == 10 }) { return }
            lines.append(try Self.line(text, number: number))
        }
    }

    private static func text(
        of slice: ArraySlice<UInt8>, isLast: Bool, number: Int, endings: LineEndings
    ) throws(SDPError) -> String {
        var slice = slice
        if slice.last == 13 {
            slice.removeLast()
        } else if !isLast, endings == .crlf {
            throw .malformedText(line: number)
        }
        guard slice.count <= SessionDescription.maximumLineLength,
            slice.count <= SessionDescription.maximumUnicodeLineLength || slice.allSatisfy({ $0 < 0x80 })
        else { throw .lineTooLong(line: number) }
        guard !slice.contains(where: { $0 == 0 || $0 == 13 }), let text = String(validating: slice, as: UTF8.self) else {
            throw .malformedText(line: number)
        }
        return text
    }

    private static func line(_ text: String, number: Int) throws(SDPError) -> Line {
        let bytes = text.utf8
        guard let type = bytes.first, type < 0x80, bytes.dropFirst().first == UInt8(ascii: "=") else {
            throw .malformedLine(line: number)
        }
        return Line(number: number, type: Unicode.Scalar(type), value: Substring(bytes.dropFirst(2)))
    }
}

/// Why a session description or fragment was refused.
public enum SDPError: Error, Equatable, Sendable {
    /// More than `SessionDescription.maximumByteCount` bytes.
    case tooLarge
    /// More bytes than `SessionDescription.maximumLineLength`; beyond ASCII, than `maximumUnicodeLineLength`.
    case lineTooLong(line: Int)
    /// More than `SessionDescription.maximumLineCount`.
    case tooManyLines
    /// More than `SessionDescription.maximumMediaCount`.
    case tooManyMediaDescriptions
    /// A line that is not `<type>=<value>`, of a type RFC 8866 does not know or not at its place.
    case malformedLine(line: Int)
    /// NUL, a lone CR, invalid UTF-8, or (where CRLF is demanded) a line that ends in LF alone.
    case malformedText(line: Int)
    /// `v=` is not 0.
    case unsupportedVersion
    /// The second line is no `o=`.
    case missingOrigin
    /// An attribute we must understand does not follow its grammar.
    case malformedAttribute(String)
}

/// In words, for whoever made the text: a WHIP client is told.
extension SDPError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooLarge: "it is too long"
        case .lineTooLong(let line): "line \(line) is too long"
        case .tooManyLines: "it has too many lines"
        case .tooManyMediaDescriptions: "it has too many m-lines"
        case .malformedLine(let line): "line \(line) is none of SDP's, or not in its place"
        case .malformedText(let line): "line \(line) does not end in CRLF, or is no UTF-8"
        case .unsupportedVersion: "its version is not 0"
        case .missingOrigin: "its second line is no o="
        case .malformedAttribute(let name): "its attribute \(name) cannot be read"
        }
    }
}
