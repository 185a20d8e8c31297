import Testing
import Wire

@Suite("The least of many elements")
struct LeastElementsTests {
    @Test(arguments: [0, 1, 2, 7, 100, 500, 501, 1_000])
    func `they are the first of all, sorted`(count: Int) {
        // Of each number there are several: those that are alike keep their order.
        let all = (0..<500).map { (number: $0 * 7_919 % 83, place: $0) }
        let least = all.least(count) { $0.number < $1.number }
        let sorted = all.sorted { ($0.number, $0.place) < ($1.number, $1.place) }
        #expect(least.map { $0.place } == sorted.prefix(count).map { $0.place })
    }

    @Test func `all others are compared once`() {
        var comparisons = 0
        let least = (0..<10_000).least(10) { left, right in
            comparisons += 1
            return left < right
        }
        #expect(least == Array(0..<10))
        #expect(comparisons < 10_100)
    }
}
