import Foundation

/// The folders the tests work in.
enum Workspace {
    static let package = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Of this run; removed by nobody, so that what failed can be looked at.
    static let temporary: URL = {
        let folder = FileManager.default.temporaryDirectory.appending(path: "stagedoor-interop-\(getpid())")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }()

    static func temporaryFile(suffix: String) -> URL { temporary.appending(path: UUID().uuidString + suffix) }

    /// A program of this package: the build that made these tests made it too, beside them.
    static func program(_ name: String) throws -> String {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let path = URL(fileURLWithPath: tests).deletingLastPathComponent().appending(path: name).path
        guard FileManager.default.isExecutableFile(atPath: path) else { throw Fault.notBuilt(path) }
        return path
    }

    enum Fault: Error, CustomStringConvertible {
        case notBuilt(String)
        var description: String {
            switch self {
            case .notBuilt(let path): "\(path) is missing: `make test` builds it"
            }
        }
    }
}
