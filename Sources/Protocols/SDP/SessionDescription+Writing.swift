extension SessionDescription {
    /// The description as text, every line ended by CRLF (RFC 8866 §5), in the order its grammar demands.
    public var text: String {
        var lines = ["v=0", "o=\(origin.line)", "s=\(sessionName)"]
        if let connection { lines.append("c=\(connection.line)") }
        lines += bandwidths.map { "b=\($0.line)" }
        lines.append("t=\(timing)")
        lines += attributes.map(\.line)
        for section in media { lines += section.lines }
        return lines.map { $0 + "\r\n" }.joined()
    }
}

extension MediaDescription {
    var lines: [String] {
        var lines = ["m=\(line)"]
        if let connection { lines.append("c=\(connection.line)") }
        lines += bandwidths.map { "b=\($0.line)" }
        return lines + attributes.map(\.line)
    }
}

extension Attribute {
    var line: String { value.map { "a=\(name):\($0)" } ?? "a=\(name)" }
}
