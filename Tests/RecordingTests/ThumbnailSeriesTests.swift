import TestSupport
import Testing
import Wire

@testable import Recording

@Suite("The thumbnails of one recording")
struct ThumbnailSeriesTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func series(_ spool: Spool) -> ThumbnailSeries {
        ThumbnailSeries(
            .init(interval: 1, keepsAll: true, keepsLatest: true), in: SpoolFolder(path: directory.path),
            SpoolShare(spool: spool, bucket: "b"))
    }

    @Test
    func `no keyframe is due before the publish, and none while one is pictured`() throws {
        var thumbnails = series(try Spool(path: directory.path, maximumByteCount: 9))
        let later = MonotonicTime.zero + .seconds(1)
        #expect(!thumbnails.isDue(at: .zero))
        thumbnails.begin()
        #expect(thumbnails.isDue(at: .zero))
        thumbnails.asked(at: .zero)
        #expect(!thumbnails.isDue(at: later) && thumbnails.isPicturing)
        thumbnails.answered()
        #expect(thumbnails.isDue(at: later) && !thumbnails.isPicturing)
    }

    @Test
    func `one for which there is no room has no file, and is the latest all the same`() throws {
        let spool = try Spool(path: directory.path, maximumByteCount: 3)
        var thumbnails = series(spool)
        let (first, second) = (thumbnails.keep([1, 2], number: 1), thumbnails.keep([3, 4], number: 2))
        #expect(first == .thumbnail(number: 1, byteCount: 2) && second == nil && spool.byteCount == 2)
        #expect(!thumbnails.isLost(.init(number: 1, byteCount: 2)) && thumbnails.isLost(.init(number: 2, byteCount: 2)))
        #expect(thumbnails.hasLatest)
        let latest = thumbnails.takeLatest()
        #expect(latest == [3, 4] && !thumbnails.hasLatest)
        thumbnails.returnLatest()
        #expect(thumbnails.hasLatest, "its bucket refused it")
    }

    @Test
    func `one of which nothing was noted leaves nothing behind`() throws {
        let spool = try Spool(path: directory.path, maximumByteCount: 3)
        var thumbnails = series(spool)
        let kept = thumbnails.keep([1, 2], number: 1)
        thumbnails.takeBack([1, 2], number: 1)
        #expect(kept != nil && spool.byteCount == 0 && thumbnails.isLost(.init(number: 1, byteCount: 2)))
    }
}
