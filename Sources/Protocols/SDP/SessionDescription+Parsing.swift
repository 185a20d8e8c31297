extension SessionDescription {
    /// Parses a session description (RFC 8866 §5), tolerant of what encoders leave out but never of what they write wrong.
    /// - Parameter endings: `.crlf` refuses lines that end in LF alone.
    public init(parsing bytes: [UInt8], endings: LineEndings = .crlfOrLF) throws(SDPError) {
        var lines = try SDPLines(bytes, endings: endings).lines[...]
        guard let version = lines.popFirst() else { throw .malformedLine(line: 1) }
        guard version.type == "v" else { throw .malformedLine(line: version.number) }
        guard version.value == "0" else { throw .unsupportedVersion }
        guard let first = lines.popFirst(), first.type == "o" else { throw .missingOrigin }
        guard let origin = Origin(line: first.value) else { throw .malformedLine(line: first.number) }
        self.init(origin: origin)
        for line in lines {
            if line.type == "m" {
                guard let description = MediaDescription(line: line.value) else { throw .malformedLine(line: line.number) }
                guard media.count < Self.maximumMediaCount else { throw .tooManyMediaDescriptions }
                media.append(description)
            } else if media.isEmpty {
                try readSessionLine(line)
            } else {
                try media[media.count - 1].read(line)
            }
        }
    }

    private mutating func readSessionLine(_ line: SDPLines.Line) throws(SDPError) {
        switch line.type {
        case "s": sessionName = String(line.value)
        case "t": timing = String(line.value)
        case "c":
            guard let connection = ConnectionData(line: line.value) else { throw .malformedLine(line: line.number) }
            self.connection = connection
        case "b":
            guard let bandwidth = Bandwidth(line: line.value) else { throw .malformedLine(line: line.number) }
            bandwidths.append(bandwidth)
        case "a": attributes.append(try Attribute(line: line))
        case "i", "u", "e", "p", "r", "z", "k": break
        default: throw .malformedLine(line: line.number)
        }
    }
}

extension MediaDescription {
    mutating func read(_ line: SDPLines.Line) throws(SDPError) {
        switch line.type {
        case "c":
            guard let connection = ConnectionData(line: line.value) else { throw .malformedLine(line: line.number) }
            self.connection = connection
        case "b":
            guard let bandwidth = Bandwidth(line: line.value) else { throw .malformedLine(line: line.number) }
            bandwidths.append(bandwidth)
        case "a": attributes.append(try Attribute(line: line))
        case "i", "k": break
        default: throw .malformedLine(line: line.number)
        }
    }
}

extension Attribute {
    init(line: SDPLines.Line) throws(SDPError) {
        let bytes = line.value.utf8
        let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        let name = bytes[..<(colon ?? bytes.endIndex)]
        guard !name.isEmpty, !name.contains(UInt8(ascii: " ")) else { throw .malformedLine(line: line.number) }
        self.init(String(Substring(name)), colon.map { String(Substring(bytes[bytes.index(after: $0)...])) })
    }
}
