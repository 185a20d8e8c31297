// fuzz: module=Recording
import StageHub
import Wire

@testable import Recording

/// One publish of RTP packets, frames of sound, jumps and losses, cut from one input: what is recorded never goes back in time, and
/// every segment begins and ends.
enum RecordingFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 2 else { return }
        let media = EncoderMedia(
            SegmentMachine(target: .seconds(2), expectsVideo: bytes[0] & 2 == 0), tracksShareClock: bytes[0] & 1 == 0)
        var isOpen = false
        var (offset, numbers, times) = (1, [Int64](repeating: 0, count: 2), [Int64](repeating: 0, count: 2))
        while offset + 3 < bytes.count {
            let block = RecordingBlock()
            block.begin(at: .zero)
            for _ in 0..<32 where offset + 3 < bytes.count {
                let (kind, length, step) = (bytes[offset], Int(bytes[offset + 1]), Int64(Int8(bitPattern: bytes[offset + 2])))
                let end = min(offset + 3 + length, bytes.count)
                let payload = UnsafeRawBufferPointer(rebasing: bytes[(offset + 3)..<end])
                offset = end
                append(kind, payload, step, to: block, &numbers, &times)
            }
            check(media.take(block), &isOpen)
        }
        check(media.finish(), &isOpen)
        precondition(!isOpen, "the last segment ends")
    }

    private static func append(
        _ kind: UInt8, _ payload: UnsafeRawBufferPointer, _ step: Int64, to block: RecordingBlock, _ numbers: inout [Int64],
        _ times: inout [Int64]
    ) {
        let index = kind & 1 == 0 ? 0 : 1
        switch kind >> 1 & 15 {
        case 0: block.append(.restarted)
        case 1: block.append(.lost)
        case 2: block.append(.layerBegan(shift: step == 0 ? nil : step << 40))
        case 3:
            block.append(
                .clock(index == 0 ? .video : .audio, time: MonotonicTime(nanoseconds: step << 32), timestamp: times[index]))
        case 4: block.append(.opusFormat(isStereo: index == 0))
        case 5: block.append(.sourceFormat(.aac(configuration: Array(payload))))
        case 6: block.appendSourceFrame(payload, at: .nanoseconds(step << 30))
        case 7: times[index] &+= step << 50
        case 8: numbers[index] &+= step << 6
        default:
            numbers[index] &+= step / 64 + 1
            times[index] &+= step * 3_000
            let packet = MediaPacket(
                sequenceNumber: numbers[index], timestamp: times[index], marker: kind & 32 == 0, payload: payload)
            _ = withUnsafePointer(to: packet) {
                block.append(UnsafeBufferPointer(start: $0, count: 1)[...], of: index == 0 ? .video : .audio)
            }
        }
    }

    private static func check(_ actions: [SegmentMachine.Action], _ isOpen: inout Bool) {
        for action in actions {
            switch action {
            case .initialization: precondition(!isOpen, "a segment has one initialization")
            case .segmentBegan:
                precondition(!isOpen, "the segment before it has ended")
                isOpen = true
            case .fragment(_, let duration): precondition(isOpen && duration >= .zero, "a part belongs to a segment")
            case .segmentEnded:
                precondition(isOpen, "it had begun")
                isOpen = false
            }
        }
    }
}
