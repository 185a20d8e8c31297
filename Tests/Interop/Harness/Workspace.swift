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

    /// A program of this package, built in release mode by `make test` before the tests begin.
    static func program(_ name: String) throws -> String {
        let folder = ProcessInfo.processInfo.environment["STAGEDOOR_PROGRAMS"] ?? package.appending(path: ".build/release").path
        let path = "\(folder)/\(name)"
        guard FileManager.default.isExecutableFile(atPath: path) else { throw Fault.notBuilt(path) }
        return path
    }

    enum Fault: Error, CustomStringConvertible {
        case notBuilt(String)
        var description: String {
            switch self {
            case .notBuilt(let path): "\(path) is missing: run `make build` first"
            }
        }
    }
}
