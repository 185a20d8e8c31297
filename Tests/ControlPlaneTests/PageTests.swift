import JSON
import Testing

@testable import ControlPlane

@Suite("Pages of a list kept in memory")
struct PageTests {
    /// Whatever their order there: the store keeps its records in none.
    @Test func `pages have every item once, in the order of their keys`() throws {
        let all = (100..<1_000).map { "\($0)" }.shuffled()
        var (listed, token): ([String], JSONValue?) = ([], nil)
        repeat {
            let page = try Page(Input(["maxResults": 100, "nextToken": token ?? nil]), list: "numbers")
            let output = page.output("numbers", page.items(of: all) { $0 }, key: { $0 }, encode: { .string($0) })
            listed += output["numbers"]?.array?.compactMap(\.string) ?? []
            token = output["nextToken"]
        } while token != nil
        #expect(listed == all.sorted())
    }

    @Test func `a page has fifty unless the request says otherwise`() throws {
        #expect(try Page(Input([:]), list: "numbers").count == 50)
        #expect(try Page(Input(["maxResults": 100]), list: "numbers").count == 100)
    }

    /// There may be a million stages: while all were sorted for each page, the control loop stood still for seconds.
    @Test func `to make a page the list is not sorted`() throws {
        let all = (1_000..<10_000).map { "\($0)" }.shuffled()
        var looks = 0
        let found = try Page(Input(["maxResults": 10]), list: "numbers").items(of: all) { item in
            looks += 1
            return item
        }
        #expect(found == (1_000...1_010).map { "\($0)" })
        // Each is held against the last of the page that was found so far.
        #expect(looks < 3 * all.count)
    }
}
