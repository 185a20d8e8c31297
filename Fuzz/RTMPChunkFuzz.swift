// fuzz: module=RTMP
import RTMP

/// Chunks cut where the first byte says; both kinds of limits.
enum RTMPChunkFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 1 else { return }
        var reader = ChunkReader(limits: bytes[0] & 1 == 0 ? .publishing : .beforePublish)
        let input = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        let step = max(1, Int(bytes[0] >> 1))
        var offset = 0
        for end in stride(from: step, to: input.count + step, by: step) {
            let shown = UnsafeRawBufferPointer(rebasing: input[..<min(end, input.count)])
            do {
                while let message = try reader.next(in: shown, at: &offset) {
                    precondition(message.payload.count <= 4 << 20, "A message beyond the limit")
                }
            } catch { return }
        }
    }
}
