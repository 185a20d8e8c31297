extension SessionDescription {
    /// The description as text, every line ended by CRLF (RFC 8866 §5), in the order its grammar demands.
    public var text: String {
        var text = ""
        text.reserveCapacity(2_048)
        text.appendLine("v", "0")
        text.appendLine("o", origin.line)
        text.appendLine("s", sessionName)
        if let connection { text.appendLine("c", connection.line) }
        for bandwidth in bandwidths { text.appendLine("b", bandwidth.line) }
        text.appendLine("t", timing)
        for attribute in attributes { text.appendLine("a", attribute.name, attribute.value) }
        for section in media { section.write(into: &text) }
        return text
    }
}

extension MediaDescription {
    fileprivate func write(into text: inout String) {
        text.appendLine("m", line)
        if let connection { text.appendLine("c", connection.line) }
        for bandwidth in bandwidths { text.appendLine("b", bandwidth.line) }
        for attribute in attributes { text.appendLine("a", attribute.name, attribute.value) }
    }
}

extension Attribute {
    var line: String { value.map { "a=\(name):\($0)" } ?? "a=\(name)" }
}

extension String {
    /// `<type>=<value>` or `<type>=<name>:<value>`.
    fileprivate mutating func appendLine(_ type: String, _ value: String, _ rest: String? = nil) {
        append(type)
        append("=")
        append(value)
        if let rest {
            append(":")
            append(rest)
        }
        append("\r\n")
    }
}
