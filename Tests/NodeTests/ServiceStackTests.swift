import Testing

@testable import Node

@Suite
struct ServiceStackTests {
    /// Writes down when it started and ended.
    final class Noted: NodeService {
        let name: String
        let note: (String) -> Void

        init(_ name: String, _ note: @escaping (String) -> Void) throws {
            if name == "broken" { throw Broken() }
            (self.name, self.note) = (name, note)
            note("+\(name)")
        }

        func stop() { note("-\(name)") }
    }

    struct Broken: Error {}

    @Test
    func `services end in the reverse order of their start, once`() throws {
        var (stack, story) = (ServiceStack(), [String]())
        try stack.start { services in
            for name in ["store", "workers", "admin"] { services.add(try Noted(name) { story.append($0) }) }
        }
        #expect(story == ["+store", "+workers", "+admin"])
        stack.stop()
        stack.stop()
        #expect(story == ["+store", "+workers", "+admin", "-admin", "-workers", "-store"])
    }

    @Test(arguments: 0...3)
    func `when one does not start, those before it are ended and those after it never begun`(broken: Int) throws {
        var (stack, story) = (ServiceStack(), [String]())
        let names = ["a", "b", "c"].prefix(broken) + ["broken"] + ["z"]
        #expect(throws: Broken.self) {
            try stack.start { services in
                for name in names { services.add(try Noted(name) { story.append($0) }) }
            }
        }
        let before = Array(["a", "b", "c"].prefix(broken))
        #expect(story == before.map { "+\($0)" } + before.reversed().map { "-\($0)" })
        stack.stop()
        #expect(story.count == 2 * broken, "what has been ended is not ended again")
    }
}
