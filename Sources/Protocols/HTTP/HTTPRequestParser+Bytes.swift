import Wire

extension HTTPRequestParser {
    /// Adds bytes to the line that has begun; true once its CR LF has come (and gone).
    mutating func takeLine(_ bytes: RawSpan, _ offset: inout Int) throws(HTTPError) -> Bool {
        while offset < bytes.byteCount {
            let byte = bytes.byte(at: offset)
            offset += 1
            lineBytes += 1
            if byte == 0x0A {
                guard line.last == 0x0D else { throw .malformedLine }
                line.removeLast()
                try checkLength()
                return true
            }
            guard line.last != 0x0D, byte.isFieldValueCharacter || byte == 0x0D else { throw .malformedLine }
            if line.isEmpty, state == .requestLine, !byte.isTokenCharacter, byte != 0x0D { throw .malformedRequestLine }
            line.append(byte)
            try checkLength()
        }
        return false
    }

    private func checkLength() throws(HTTPError) {
        switch state {
        case .requestLine: if lineBytes > limits.maximumRequestLineLength { throw .targetTooLong }
        case .fields: if lineBytes > limits.maximumHeaderLength { throw .headTooLarge }
        default:
            if line.count > limits.maximumChunkLineLength || lineBytes > limits.maximumChunkOverhead { throw .malformedChunk }
        }
    }

    /// Appends at most `count` bytes to the body and tells how many.
    mutating func copyBody(_ bytes: RawSpan, _ offset: inout Int, upTo count: Int) -> Int {
        let count = min(count, bytes.byteCount - offset)
        let part = bytes.extracting(offset..<(offset + count))
        part.withUnsafeBytes { request?.body.append(contentsOf: $0) }
        offset += count
        return count
    }

    /// Reads `chunk-size [ chunk-ext ]` (RFC 9112 §7.1); extensions are passed over, size 0 begins the trailers.
    mutating func startChunk() throws(HTTPError) {
        let digits = line.prefix { $0.hexadecimalValue != nil }
        let rest = line[digits.endIndex...]
        guard (1...8).contains(digits.count), rest.isEmpty || rest.first == UInt8(ascii: ";") else { throw .malformedChunk }
        let size = digits.reduce(0) { $0 << 4 | Int($1.hexadecimalValue ?? 0) }
        guard size <= bodyLimit - (request?.body.count ?? 0) else { throw .bodyTooLarge }
        state = size == 0 ? .trailers : .chunk(remaining: size)
    }
}

extension RawSpan {
    func byte(at offset: Int) -> UInt8 { unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
