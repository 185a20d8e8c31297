// fuzz: module=SharedPort
import SharedPort
import Wire

/// Any bytes at the shared port: what is told of a connection does not depend on how its bytes are cut, is told by few of them,
/// and claims no more than there are.
enum SharedPortFuzz {
    /// The first byte says who comes (1: a trusted balancer) and what TLS agrees on (2: `http/1.1`); the rest is what it sends.
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard let mode = bytes.first else { return }
        let sent = [UInt8](bytes.dropFirst())
        precondition(actions(mode, sent, step: 1) == actions(mode, sent, step: max(1, sent.count)), "it depends on the cuts")
    }

    /// What a carrier would be told to do, but to wait.
    private static func actions(_ mode: UInt8, _ sent: [UInt8], step: Int) -> [Introduction.Action] {
        var introduction = Introduction(isTrustedProxy: mode & 1 != 0)
        var (start, end, told): (Int, Int, [Introduction.Action]) = (0, 0, [])
        while end < sent.count {
            end = min(sent.count, end + step)
            while start < end {
                let action = introduction.receive(sent[start..<end].span.bytes)
                guard action != .wait else {
                    precondition(end - start < maximumWaiting, "so many bytes tell nothing")
                    break
                }
                told.append(action)
                switch action {
                case .take(let count, _):
                    precondition(count <= end - start, "a header longer than its bytes")
                    start += count
                case .startTLS:
                    // As if the hello were all that TLS takes, and the rest its content.
                    start += helloByteCount
                    let next = introduction.handshakeCompleted(applicationProtocol: mode & 2 != 0 ? "http/1.1" : nil)
                    if next != .wait { return told + [next] }
                case .hand, .close, .wait: return told
                }
            }
        }
        return told
    }

    private static let helloByteCount = 6
    /// A balancer's header and what it may carry.
    private static let maximumWaiting = 2_064
}
