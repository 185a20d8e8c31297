import EventLoop
import Foundation
import JSON
import JWT
import OpenSSL
import Refusals
import Testing
import Wire

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

    /// Says nothing about an unoptimized build, which parses slowly: `swift test -c release -Xswiftc -enable-testing`.
    private static var isMeasuring: Bool {
        #if DEBUG
            false
        #else
            ProcessInfo.processInfo.environment["STAGEDOOR_MEASURE"] != nil
        #endif
    }

    @Test(.enabled(if: isMeasuring, "set STAGEDOOR_MEASURE and build for release to measure"))
    func `new tokens are verified at 0.85 of OpenSSL's own rate, known ones in 10 µs`() async throws {
        let bench = try Bench()
        var (ratio, cached) = (0.0, Duration.seconds(1))
        for round in 0..<3 {
            let tokens = try bench.tokens(400, round: round)
            let bare = try bench.timeOfSignatures(tokens)
            let verified = await bench.timeOfVerifications(tokens)
            ratio = max(ratio, bare / verified)
            cached = min(cached, bench.timeOfKnown(tokens, times: 25))
            print("round \(round): bare \(bare / tokens.count), verifier \(verified / tokens.count) a token; known \(cached)")
        }
        #expect(bench.verifier.verificationCount == 1_200, "each new token one operation, known ones none")
        #expect(ratio >= 0.85)
        #expect(cached <= .microseconds(10))
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

    /// OpenSSL alone: hashing and the P-384 operation, over input that is already apart.
    fileprivate func timeOfSignatures(_ tokens: [[UInt8]]) throws -> Duration {
        let parts = try tokens.map { try CompactToken(parsing: $0) }
        let publicKey = key.publicKey
        let start = EventLoop.monotonicNow()
        for part in parts { #expect(publicKey.isValid(part.signature, over: part.signingInput)) }
        return EventLoop.monotonicNow() - start
    }

    /// All at once, as many as the verifier lets wait: its one thread has no pause.
    fileprivate func timeOfVerifications(_ tokens: [[UInt8]]) async -> Duration {
        let start = EventLoop.monotonicNow()
        let genuine = await withTaskGroup(of: Bool.self) { group in
            for token in tokens { group.addTask { (try? await self.verify(token).get()) != nil } }
            return await group.reduce(0) { $1 ? $0 + 1 : $0 }
        }
        let time = EventLoop.monotonicNow() - start
        #expect(genuine == tokens.count)
        return time
    }

    /// One verification of a token seen before, which is answered before `verify` returns.
    fileprivate func timeOfKnown(_ tokens: [[UInt8]], times: Int) -> Duration {
        let secrets = tokens.map { Secret($0) }
        let answers = Lock(0)
        let start = EventLoop.monotonicNow()
        for _ in 0..<times {
            for secret in secrets { verifier.verify(secret, source: .loopback) { _ in answers.withLock { $0 += 1 } } }
        }
        let time = EventLoop.monotonicNow() - start
        #expect(answers.withLock { $0 } == tokens.count * times)
        return time / (tokens.count * times)
    }
}
