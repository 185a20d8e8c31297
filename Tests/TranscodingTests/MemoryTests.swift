import Foundation
import Settings
import TestSupport
import Testing

@testable import Transcoding

/// Resident memory is the whole process's: measured when asked for, with `--filter
/// TranscodingMemoryTests`, and not beside other tests.
@Suite(
    "Transcoding, memory", .serialized,
    .enabled(if: ProcessInfo.processInfo.environment["STAGEDOOR_MEASURE"] != nil, "set STAGEDOOR_MEASURE to measure"))
struct TranscodingMemoryTests {
    private func residentKilobytes() -> Int { SimulatedDay.residentBytes / 1_024 }

    @Test(arguments: [(48_000, 900), (44_100, 1_100)])
    func `a stream takes below a megabyte and gives it back`(_ rate: Int, _ limit: Int) throws {
        let audio = try EncodedAudio(filter: "sine=sample_rate=\(rate)", seconds: 1, rate: rate, channels: 2)
        func open(_ count: Int) throws -> [AACToOpusSession] {
            try (0..<count).map { _ in
                let session = AACToOpusSession(audio.config, settings: TranscodingSettings())
                for (index, frame) in audio.frames.prefix(10).enumerated() {
                    _ = try session.packets(of: frame, at: audio.stamp(index))
                }
                return session
            }
        }
        var sessions = try open(2)
        let before = residentKilobytes()
        sessions += try open(50)
        let each = (residentKilobytes() - before) / 50
        print("transcoding at \(rate) Hz: \(each) kB a stream")
        #expect(each < limit)
        // The allocator keeps what it once had; rounds after the first few must not ask for more.
        func churn(_ rounds: Int) throws -> Int {
            for _ in 0..<rounds {
                sessions = []
                sessions = try open(50)
            }
            return residentKilobytes()
        }
        let settled = try churn(3)
        let later = try churn(6)
        #expect(later - settled < 5_000, "\(settled) kB, then \(later)")
    }
}
