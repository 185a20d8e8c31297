import AMF0

/// A command message: name, transaction id, command object and arguments (RTMP 1.0 §7.1.1).
struct RTMPCommand {
    var name: String
    /// 0 when no answer is wanted.
    var transactionID: Double
    var object: AMF0Value
    var arguments: [AMF0Value]

    init(name: String, transactionID: Double = 0, object: AMF0Value = .null, arguments: [AMF0Value] = []) {
        (self.name, self.transactionID, self.object, self.arguments) = (name, transactionID, object, arguments)
    }

    /// From the body of a message of type 20, or of type 17: there one byte 0 stands before the same AMF 0.
    /// - Returns: nil for a body that does not begin with a name; such noise is passed over.
    init?(parsing message: RTMPMessage) throws(RTMPError) {
        var body = message.payload
        if message.type == RTMPMessageType.commandAMF3, body.first == 0 {
            body = UnsafeRawBufferPointer(rebasing: body.dropFirst())
        }
        let values: [AMF0Value]
        do { values = try AMF0Decoder.values(in: body.bytes) } catch { throw .malformedCommand(error) }
        guard let name = values.first?.string else { return nil }
        self.name = name
        transactionID = values.count > 1 ? values[1].number ?? 0 : 0
        object = values.count > 2 ? values[2] : .null
        arguments = Array(values.dropFirst(3))
    }

    var bytes: [UInt8] { ([.string(name), .number(transactionID), object] + arguments).amf0Bytes }
}
