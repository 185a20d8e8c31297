import Foundation
import TestSupport
import Testing

/// The fuzzers' bodies over their seeds and over what they once found: a crash here is the fault come back.
struct FuzzerReplayTests {
    @Test func `every fuzzer has a row in the table`() throws {
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "swift" }
            .filter { try String(contentsOf: $0, encoding: .utf8).hasPrefix("// fuzz:") }
            .map { $0.deletingPathExtension().lastPathComponent }
            .map { $0.hasSuffix("Fuzz") ? String($0.dropLast(4)) : $0 }
        #expect(Fuzzer.all.map(\.name).sorted() == files.sorted())
    }

    @Test(arguments: Fuzzer.all)
    func `what was found once is found no more`(fuzzer: Fuzzer) throws {
        for input in try inputs(in: "Crashers", of: fuzzer) { input.withUnsafeBytes(fuzzer.run) }
    }

    @Test(arguments: Fuzzer.all)
    func `seeds pass whole, cut at every byte, and with flipped bytes`(fuzzer: Fuzzer) throws {
        var random = SplitMix64(seed: 1)
        let seeds = try inputs(in: "Corpus", of: fuzzer)
        #expect(!seeds.isEmpty, "Fuzz/Corpus/\(fuzzer.name) holds no seed")
        for seed in seeds {
            seed.withUnsafeBytes { whole in
                for length in stride(from: 0, through: whole.count, by: max(1, whole.count / maximumCuts)) {
                    fuzzer.run(UnsafeRawBufferPointer(rebasing: whole[..<length]))
                }
                fuzzer.run(whole)
            }
            for _ in 0..<mutations where !seed.isEmpty {
                var mutated = seed
                for _ in 0..<4 { mutated[Int.random(in: 0..<seed.count, using: &random)] = .random(in: 0...255, using: &random) }
                mutated.withUnsafeBytes(fuzzer.run)
            }
        }
    }

    private let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private let maximumCuts = 512
    private let mutations = 100

    private func inputs(in kind: String, of fuzzer: Fuzzer) throws -> [[UInt8]] {
        let files = try? FileManager.default.contentsOfDirectory(
            at: folder.appending(path: "\(kind)/\(fuzzer.name)"), includingPropertiesForKeys: nil)
        return try (files ?? []).sorted { $0.path < $1.path }.map { try [UInt8](Data(contentsOf: $0)) }
    }
}
