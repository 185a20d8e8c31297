import Console
import HTTP
import Testing

@Suite("Console pages")
struct ConsolePagesTests {
    private static func get(_ path: String, _ method: HTTPMethod = .get) throws -> HTTPResponse? {
        let target = try #require(HTTPRequestTarget(path))
        return ConsolePages.response(
            to: HTTPRequest(method: method, target: target, rawTarget: path, headers: [:], body: []))
    }

    @Test func `whatever the page and its modules name is served`() throws {
        var waiting = ["/"]
        var seen: Set<String> = []
        while let path = waiting.popLast() {
            guard seen.insert(path).inserted else { continue }
            let page = try #require(try Self.get(path), "\(path)")
            #expect(!page.body.isEmpty)
            let text = String(decoding: page.body, as: UTF8.self)
            waiting += text.matches(of: /(?:src|href)="(\/console\/[a-z.]+)"/).map { String($0.output.1) }
            waiting += text.matches(of: /import\('(\/console\/[a-z.]+)'\)/).map { String($0.output.1) }
            waiting += text.matches(of: /from '\.\/([a-z.]+)'/).map { "/console/\($0.output.1)" }
        }
        #expect(seen.count == 35)
    }

    @Test func `nothing is inline or from elsewhere, and nobody may frame it`() throws {
        let page = try #require(try Self.get("/"))
        let policy = try #require(page.headers["Content-Security-Policy"])
        #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"))
        let text = String(decoding: page.body, as: UTF8.self)
        #expect(
            !text.contains("style=") && !text.contains("onclick=") && !text.contains("<script>") && !text.contains("http://127"))
    }

    @Test func `other paths are not its own, and it is only read`() throws {
        #expect(try Self.get("/console/") == nil)
        #expect(try Self.get("/console/../secret") == nil)
        #expect(try Self.get("/", .post)?.status == .methodNotAllowed)
    }
}
