import AMF0
import RTMP
import Wire

@testable import RTMP

/// What happened, with payloads copied, so that runs can be compared.
enum Happening: Equatable {
    case connect(app: String, tcURL: String, flashVersion: String)
    case publish(application: String, key: String)
    case audio(Int64, [UInt8])
    case video(Int64, [UInt8])
    case data(Int64, [UInt8])
    case unpublished
    case failed(RTMPError)
}

/// Plays a session's owner: keeps what was not consumed, grants everything, writes down what happens.
final class SessionDriver {
    private var session = RTMPServerSession(crypto: .fake)
    private var unconsumed: [UInt8] = []
    private(set) var happenings: [Happening] = []
    private(set) var output: [UInt8] = []
    var grantsPublish = true

    var hasFailed: Bool { if case .failed = happenings.last { true } else { false } }
    var unconsumedByteCount: Int { unconsumed.count }

    func feed(_ bytes: [UInt8]) {
        guard !hasFailed else { return }
        unconsumed += bytes
        readOn()
    }

    func acceptPublish() {
        session.acceptPublish()
        readOn()
    }

    private func readOn() {
        var offset = 0
        unconsumed.withUnsafeBytes { input in
            do throws(RTMPError) {
                while let event = try session.nextEvent(in: input, at: &offset) { note(event) }
            } catch {
                happenings.append(.failed(error))
            }
        }
        unconsumed.removeFirst(offset)
        output += session.takeOutput()
    }

    private func note(_ event: RTMPEvent) {
        switch event {
        case .connect(let request):
            happenings.append(.connect(app: request.app, tcURL: request.tcURL, flashVersion: request.flashVersion))
            session.acceptConnect()
        case .publish(let target):
            happenings.append(.publish(application: target.application, key: target.keys[0]))
            if grantsPublish { session.acceptPublish() }
        case .audio(let media): happenings.append(.audio(media.timestamp, Array(media.payload)))
        case .video(let media): happenings.append(.video(media.timestamp, Array(media.payload)))
        case .data(let media): happenings.append(.data(media.timestamp, Array(media.payload)))
        case .unpublished: happenings.append(.unpublished)
        }
    }

    /// The commands that the session has sent, the handshake passed over.
    var answers: [RTMPCommand] {
        get throws {
            var reader = ChunkReader(limits: .publishing)
            var offset = 1 + 2 * 1_536
            var commands: [RTMPCommand] = []
            try output.withUnsafeBytes { bytes in
                while offset < bytes.count, let message = try reader.next(in: bytes, at: &offset) {
                    if message.type == 20, let command = try RTMPCommand(parsing: message) { commands.append(command) }
                }
            }
            return commands
        }
    }

    /// Name and code of each answer: `onStatus NetStream.Publish.Start`.
    var answerNames: [String] {
        get throws {
            try answers.map { command in
                let code = command.arguments.first?.members?["code"]?.string
                return code.map { "\(command.name) \($0)" } ?? command.name
            }
        }
    }
}

extension HandshakeCrypto {
    /// Not a hash, but enough of one to tell inputs apart.
    static var fake: HandshakeCrypto {
        HandshakeCrypto(
            hmacSHA256: { key, message in
                var state = SplitState(seed: 0xCBF2_9CE4_8422_2325)
                for byte in key + [0] + message { state.mix(byte) }
                return (0..<32).map { _ in state.nextByte() }
            },
            randomBytes: [UInt8](repeating: 0x5A, count: randomByteCount))
    }
}

struct SplitState {
    private var value: UInt64
    init(seed: UInt64) { value = seed }
    mutating func mix(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    mutating func nextByte() -> UInt8 {
        mix(1)
        return UInt8(truncatingIfNeeded: value >> 32)
    }
}

/// An encoder's side of a session, as bytes.
struct EncoderBytes {
    var bytes: [UInt8] = []
    var writer = ChunkWriter()

    /// A simple handshake: C0, C1 with a zero version, C2.
    static var simpleHandshake: [UInt8] {
        let c1 = [UInt8](repeating: 0, count: 8) + (0..<1_528).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        return [3] + c1 + [UInt8](repeating: 0x11, count: 1_536)
    }

    init(handshake: [UInt8] = simpleHandshake) { bytes = handshake }

    mutating func command(_ command: RTMPCommand, streamID: UInt32 = 0) {
        message(type: 20, streamID: streamID, chunkStreamID: 3, command.bytes)
    }

    mutating func message(type: UInt8, timestamp: UInt32 = 0, streamID: UInt32 = 1, chunkStreamID: UInt32 = 4, _ payload: [UInt8])
    {
        writer.write(
            type: type, timestamp: timestamp, streamID: streamID, chunkStreamID: chunkStreamID, payload: payload, into: &bytes)
    }

    mutating func connect(app: String = "app", tcURL: String = "rtmp://127.0.0.1/app") {
        command(
            RTMPCommand(
                name: "connect", transactionID: 1, object: .object(["app": .string(app), "tcUrl": .string(tcURL)])))
    }

    mutating func publish(_ name: String = "KEY") {
        command(RTMPCommand(name: "createStream", transactionID: 4))
        command(RTMPCommand(name: "publish", transactionID: 5, arguments: [.string(name), "live"]), streamID: 1)
    }

    /// Handshake, connect and publish.
    static func published() -> EncoderBytes {
        var encoder = EncoderBytes()
        encoder.connect()
        encoder.publish()
        return encoder
    }
}
