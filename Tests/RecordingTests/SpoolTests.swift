import TestSupport
import Testing

@testable import Recording

extension Spool {
    /// Of a spool in which the recordings of one bucket alone may take so much, and no byte more.
    static func size(forOneBucketOf byteCount: Int) -> Int { (byteCount * 10 + 8) / 9 }
}

@Suite("The spool")
struct SpoolTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func fill(_ share: SpoolShare) -> Int {
        var count = 0
        while share.take(1) { count += 1 }
        return count
    }

    @Test(arguments: [1, 9, 10, 1_000])
    func `of a spool the recordings of one bucket take their share, and no byte more`(_ count: Int) throws {
        let spool = try Spool(path: directory.path, maximumByteCount: Spool.size(forOneBucketOf: count))
        #expect(fill(SpoolShare(spool: spool, bucket: "b")) == count && spool.byteCount == count)
    }

    @Test
    func `a bucket that takes nothing leaves room for others' recordings, and so do several`() throws {
        let spool = try Spool(path: directory.path, maximumByteCount: 10_000)
        let shares = (0..<4).map { SpoolShare(spool: spool, bucket: "\($0)") }
        #expect(shares.prefix(3).map(fill) == [9_000, 900, 90])
        #expect(shares[3].take(9), "there is room still")
        shares[3].release(9)
        shares[0].release(9_000)
        #expect(spool.byteCount == 990 && shares[1].take(5_000), "what is stored makes room for all")
        #expect(!shares[1].take(5_000))
    }

    @Test
    func `what a former process left counts as its bucket's, also where it is more than may lie there`() throws {
        let spool = try Spool(path: directory.path, maximumByteCount: 100)
        let (left, other) = (SpoolShare(spool: spool, bucket: "a"), SpoolShare(spool: spool, bucket: "b"))
        left.adopt(120)
        #expect(!left.take(1) && !other.take(1))
        left.release(60)
        #expect(left.take(30) && !left.take(1) && other.take(1))
        left.release(90)
        other.release(1)
        #expect(spool.byteCount == 0)
    }
}
