import ArgumentParser
import COpenSSL
import EventLoop
import Foundation
import JWT
import OpenSSL
import Store
import Wire

/// `stagedoor-bench tokens`: what the token verifier costs beside the one P-384 operation that it cannot do without.
///
/// Both sides take turns on small batches, and what counts is CPU time of the whole process, so other work on the machine
/// weighs on both alike.
struct Tokens: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokens", abstract: "Verifies participant tokens beside bare OpenSSL P-384, in turns; prints CPU of each.")

    @Option(help: "Turns of each side.")
    var turns = 20
    @Option(help: "Tokens in a turn, each new to the verifier.")
    var batch = 40

    struct Report: Encodable {
        var tokens = 0
        /// CPU of one OpenSSL verification, SHA-384 and P-384.
        var bareMicroseconds = 0.0
        /// CPU of a token from its text to the answer, all threads.
        var verifierMicroseconds = 0.0
        /// CPU of a token that was verified before.
        var cachedMicroseconds = 0.0
        /// The verifier's rate over that of bare OpenSSL.
        var ratio = 0.0
    }

    private struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    func run() throws {
        let directory = NSTemporaryDirectory() + "stagedoor-bench-tokens-\(getpid())"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let bench = try TokenBench(directory: directory, room: max(batch, 1))
        guard let bare = BareES384(pem: bench.key.publicKey.pem) else { throw Failure(description: "the key was not taken") }
        var report = Report(tokens: turns * batch)
        for _ in 0..<turns {
            let tokens = try bench.freshTokens(batch)
            let signed = try tokens.map { token in
                let parts = try CompactToken(parsing: token.reveal())
                return BareES384.Signed(message: parts.signingInput, signature: parts.signature)
            }
            report.bareMicroseconds += try Self.cost(of: batch) { signed.count { bare.isValid($0) } }
            report.verifierMicroseconds += try Self.cost(of: batch) { bench.verify(tokens) }
            report.cachedMicroseconds += try Self.cost(of: batch) { bench.verify(tokens) }
        }
        let performed = bench.verifier.verificationCount
        guard performed == report.tokens else { throw Failure(description: "\(performed) operations of \(report.tokens)") }
        report.ratio = report.bareMicroseconds / report.verifierMicroseconds
        report.bareMicroseconds /= Double(turns)
        report.verifierMicroseconds /= Double(turns)
        report.cachedMicroseconds /= Double(turns)
        try print(report: report)
    }

    /// CPU microseconds of the whole process for each of `count`, all of which must be found good.
    private static func cost(of count: Int, _ body: () -> Int) throws -> Double {
        let start = settledCPU()
        let good = body()
        let spent = settledCPU() - start
        guard good == count else { throw Failure(description: "\(good) of \(count) were found genuine") }
        return Double(spent) / 1_000 / Double(count)
    }

    /// CPU time once no thread works any more: that of a running one is only counted up to its last tick, some milliseconds ago.
    private static func settledCPU() -> Int64 {
        var (last, now) = (Int64.min / 2, cpuNanoseconds())
        while now - last > 50_000 {
            usleep(500)
            (last, now) = (now, cpuNanoseconds())
        }
        return now
    }

    private static func cpuNanoseconds() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// OpenSSL's own ES384 verification and nothing else: the floor that a token verifier is measured against.
@safe struct BareES384: ~Copyable {
    /// A signature as OpenSSL takes it, with what it signs.
    struct Signed {
        var message: [UInt8]
        var der: [UInt8]

        /// - Parameter signature: raw R‖S, as a JWS carries it.
        init(message: [UInt8], signature: [UInt8]) {
            self.message = message
            let pair = unsafe ECDSA_SIG_new()
            defer { unsafe ECDSA_SIG_free(pair) }
            let (r, s) = (Array(signature.prefix(signature.count / 2)), Array(signature.suffix(signature.count / 2)))
            _ = unsafe ECDSA_SIG_set0(pair, BN_bin2bn(r, CInt(r.count), nil), BN_bin2bn(s, CInt(s.count), nil))
            var bytes: UnsafeMutablePointer<UInt8>?
            let count = unsafe i2d_ECDSA_SIG(pair, &bytes)
            der = unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
            unsafe CRYPTO_free(bytes, nil, 0)
        }
    }

    private let key: OpaquePointer

    /// - Parameter pem: a public key, SubjectPublicKeyInfo. Nil when it is none.
    init?(pem: [UInt8]) {
        let source = unsafe BIO_new_mem_buf(pem, CInt(pem.count))
        defer { unsafe BIO_free(source) }
        guard let key = unsafe PEM_read_bio_PUBKEY(source, nil, nil, nil) else { return nil }
        unsafe self.key = key
    }

    deinit { unsafe EVP_PKEY_free(key) }

    borrowing func isValid(_ signed: Signed) -> Bool {
        let context = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(context) }
        return unsafe EVP_DigestVerifyInit(context, nil, EVP_sha384(), nil, key) == 1
            && EVP_DigestVerify(context, signed.der, signed.der.count, signed.message, signed.message.count) == 1
    }
}
