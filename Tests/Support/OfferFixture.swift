import Foundation

/// One captured WHIP request of `Fixtures/offers`.
public struct OfferFixture: Sendable, CustomStringConvertible {
    public var name: String
    /// Request line and header lines.
    public var head: [String]
    public var body: [UInt8]

    public var description: String { name }

    /// All of them, by name.
    public static let all: [OfferFixture] = {
        let folder = repositoryRoot + "/Fixtures/offers"
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasSuffix(".txt") }
        return names.sorted().compactMap { OfferFixture(path: folder + "/" + $0, name: String($0.dropLast(4))) }
    }()

    public static func named(_ name: String) -> OfferFixture {
        guard let fixture = all.first(where: { $0.name == name }) else { preconditionFailure("no fixture \(name)") }
        return fixture
    }

    private init?(path: String, name: String) {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        let bytes = [UInt8](data)
        let gap: [UInt8] = [13, 10, 13, 10]
        guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: gap) }) else { return nil }
        self.name = name
        head = String(decoding: bytes[..<end], as: UTF8.self).split(whereSeparator: \.isNewline).dropFirst().map(String.init)
        let length = head.first { $0.lowercased().hasPrefix("content-length:") }.flatMap { Int($0.drop { !$0.isNumber }) } ?? 0
        body = Array(bytes[(end + 4)...].prefix(length))
    }
}

/// The folder of Package.swift, found from this file's own place.
public let repositoryRoot: String = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path()
