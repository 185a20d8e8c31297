import Testing
import Wire

@testable import Recording

@Suite("When thumbnails are due")
struct ThumbnailScheduleTests {
    /// Milliseconds between an encoder's keyframes, seconds between thumbnails, and when there are some.
    @Test(arguments: [
        (2_000, 1, [0, 2_000, 4_000, 6_000]), (2_000, 6, [0, 6_000, 12_000, 18_000]), (1_990, 2, [0, 1_990, 3_980, 5_970]),
        // They keep to the grid where keyframes do not.
        (8_300, 10, [0, 16_600, 24_900, 33_200, 41_500, 49_800]),
    ])
    func `there is one of the first keyframe of each interval`(keyframes: Int64, interval: Int, times: [Int64]) {
        var schedule = ThumbnailSchedule(interval: .seconds(interval))
        var made: [Int64] = []
        var time: Int64 = 0
        while made.count < times.count, time < 100_000 {
            let now = MonotonicTime(nanoseconds: time * 1_000_000)
            if schedule.isDue(at: now) {
                made.append(time)
                schedule.taken(at: now)
            }
            time += keyframes
        }
        #expect(made == times)
    }
}
