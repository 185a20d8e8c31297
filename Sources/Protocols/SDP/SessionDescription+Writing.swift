extension SessionDescription {
    /// The description as text, every line ended by CRLF (RFC 8866 §5), in the order its grammar demands.
    public var text: String {
        // By bytes, which are appended at a fifth of what strings cost.
        var text: [UInt8] = []
        text.reserveCapacity(2_048)
        text.appendLine("v", "0")
        text.appendLine("o", origin.line)
        text.appendLine("s", sessionName)
        if let connection { text.appendLine("c", connection.line) }
        for bandwidth in bandwidths { text.appendLine("b", bandwidth.line) }
        text.appendLine("t", timing)
        for attribute in attributes { text.appendLine("a", attribute.name, attribute.value) }
        for section in media { section.write(into: &text) }
        return String(decoding: text, as: UTF8.self)
    }
}

extension MediaDescription {
    fileprivate func write(into text: inout [UInt8]) {
        text.appendLine("m", line)
        if let connection { text.appendLine("c", connection.line) }
        for bandwidth in bandwidths { text.appendLine("b", bandwidth.line) }
        for attribute in attributes { text.appendLine("a", attribute.name, attribute.value) }
    }
}

extension Attribute {
    var line: String { value.map { "a=\(name):\($0)" } ?? "a=\(name)" }
}

extension [UInt8] {
    /// `<type>=<value>` or `<type>=<name>:<value>`.
    fileprivate mutating func appendLine(_ type: Unicode.Scalar, _ value: String, _ rest: String? = nil) {
        append(UInt8(ascii: type))
        append(UInt8(ascii: "="))
        append(contentsOf: value.utf8)
        if let rest {
            append(UInt8(ascii: ":"))
            append(contentsOf: rest.utf8)
        }
        append(contentsOf: "\r\n".utf8)
    }
}
