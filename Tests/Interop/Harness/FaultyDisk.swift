import Foundation
import Testing

extension Workspace {
    /// A C library of `Clients`, built to be preloaded into a program.
    static func preload(_ name: String) throws -> URL {
        let library = temporaryFile(suffix: ".so")
        let source = package.appending(path: "Tests/Interop/Clients/\(name)").path
        _ = try ProgramRun.output(
            of: ["cc", "-O2", "-Wall", "-Werror", "-fPIC", "-shared", "-o", library.path, source], within: .seconds(60))
        return library
    }
}

/// A file system of its own that can be full. Needs root; it goes with its object.
final class SmallDisk {
    private let path: String
    private var ballast: String { path + "/.ballast" }

    init(megabytes: Int, at folder: URL) throws {
        path = folder.path
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        _ = try ProgramRun.output(
            of: ["mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", path], within: .seconds(60))
    }

    deinit { _ = try? ProgramRun.output(of: ["umount", "-l", path], within: .seconds(60)) }

    /// Another program takes all the room that is left.
    func fill() throws {
        let run = try ProgramRun(["dd", "if=/dev/zero", "of=\(ballast)", "bs=4k"])
        #expect(run.status(within: .seconds(60)) == 1 && run.output.contains("No space left"), "\(run.output)")
    }

    func free() throws { try FileManager.default.removeItem(atPath: ballast) }
}

/// A disk below a folder that has too much to do while it is told so: each write and each flush of a gateway's takes longer.
final class SlowDisk {
    private let flag = Workspace.temporaryFile(suffix: ".slow")
    /// For a `Gateway`, whose data lies in `data`.
    let launcher: [String]
    let data = Workspace.temporaryFile(suffix: ".data")

    /// - Parameter milliseconds: which a write takes longer; 30,000 make a gap in whatever is recorded.
    init(milliseconds: Int) throws {
        launcher = [
            "env", "LD_PRELOAD=\(try Workspace.preload("slow_disk.c").path)", "SLOW_DISK_FOLDER=\(data.path)/spool",
            "SLOW_DISK_SWITCH=\(flag.path)", "SLOW_DISK_MS=\(milliseconds)",
        ]
    }

    var isSlow = false {
        didSet {
            if isSlow { try? Data().write(to: flag) } else { try? FileManager.default.removeItem(at: flag) }
        }
    }

    /// Slow for longer than recordings have blocks, until the gap that follows was logged.
    func makeGap(at gateway: Gateway) {
        let before = gateway.logged("recording_gap").count
        isSlow = true
        letPass(.seconds(30))
        isSlow = false
        expect("a gap\n\(gateway.log.suffix(2_000))", within: .seconds(120)) { gateway.logged("recording_gap").count > before }
    }
}
