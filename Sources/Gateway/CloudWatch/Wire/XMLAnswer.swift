import Wire

/// Answers of AWS Query: XML whose lists have elements called `member`.
enum XMLAnswer {
    static func document(_ output: CloudWatchValue, to operation: String, requestID: String) -> [UInt8] {
        var text = "<\(operation)Response xmlns=\"\(CloudWatchProtocol.namespace)\"><\(operation)Result>"
        write(output, into: &text)
        text += "</\(operation)Result><ResponseMetadata><RequestId>\(requestID)</RequestId></ResponseMetadata>"
        return Array("\(text)</\(operation)Response>\n".utf8)
    }

    static func document(_ error: CloudWatchError, fault: String, requestID: String) -> [UInt8] {
        var text = "<ErrorResponse xmlns=\"\(CloudWatchProtocol.namespace)\"><Error>"
        write(["Type": .text(fault), "Code": .text(error.code), "Message": .text(error.message)], into: &text)
        return Array("\(text)</Error><RequestId>\(requestID)</RequestId></ErrorResponse>\n".utf8)
    }

    private static func write(_ value: CloudWatchValue, into text: inout String) {
        switch value {
        case .text(let value): text += escaped(value)
        case .integer(let value): text += "\(value)"
        case .number(let value): text += "\(value)"
        case .bool(let value): text += value ? "true" : "false"
        case .time(let time): text += CivilTime(time).rfc3339
        case .list(let elements): for element in elements { write(element, as: "member", into: &text) }
        case .structure(let members): for member in members { write(member.value, as: member.name, into: &text) }
        }
    }

    private static func write(_ value: CloudWatchValue, as name: String, into text: inout String) {
        text += "<\(name)>"
        write(value, into: &text)
        text += "</\(name)>"
    }

    /// Characters that XML 1.0 does not have are left out: a client would refuse the whole document for one.
    private static func escaped(_ value: String) -> String {
        var text = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "\t", "\n", "\r": text.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || (0xFFFE...0xFFFF).contains(scalar.value): continue
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
