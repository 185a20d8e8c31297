import JSON
import JWT
import Testing

@testable import Store

/// What the verifier costs beside the one P-384 operation that it cannot do without.
@Suite struct TokenRateTests {
    @Test
    func `a known token makes no P-384 operation`() async throws {
        let bench = try Bench()
        let token = try bench.sign(Bench.claims)
        for _ in 0..<100 { _ = try await bench.verify(token).get() }
        #expect(bench.verifier.verificationCount == 1)
        for token in try bench.tokens(10, round: 0) { _ = try await bench.verify(token).get() }
        #expect(bench.verifier.verificationCount == 11)
    }
}

extension Bench {
    /// Tokens that nobody has seen, from one key pair.
    fileprivate func tokens(_ count: Int, round: Int) throws -> [[UInt8]] {
        try (0..<count).map { number in
            var claims = Self.claims
            claims["jti"] = .string("p-\(round)-\(number)")
            return try sign(claims)
        }
    }
}
