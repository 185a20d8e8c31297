// fuzz: module=HTTP
import HTTP

/// Requests cut at places that the first byte decides; whole and cut input must give the same requests.
enum HTTPRequestFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard let step = bytes.first else { return }
        let text = Array(bytes.dropFirst())
        let whole = outcome(text, step: max(text.count, 1))
        precondition(outcome(text, step: Int(step) + 1) == whole, "cutting the input changed its meaning")
    }

    private static func outcome(_ text: [UInt8], step: Int) -> [HTTPRequestParser.Event] {
        var parser = HTTPRequestParser(maximumBodyLength: 4096)
        var events: [HTTPRequestParser.Event] = []
        for start in stride(from: 0, to: text.count, by: step) {
            var rest = text[start..<min(text.count, start + step)]
            while !rest.isEmpty {
                guard let (count, event) = try? parser.receive(Array(rest).span.bytes) else { return events }
                rest = rest.dropFirst(count)
                if let event { events.append(event) }
            }
        }
        return events
    }
}
