import EventLoop
import Foundation

/// Notices that files have changed, through symbolic links too: Kubernetes swaps a link beside the file, editors rename over it.
///
/// Looking at a handful of files every second costs nothing and, unlike inotify, works on every kind of mount.
final class FileChanges {
    /// What to look at; may change.
    var paths: [String] { didSet { if paths != oldValue { seen = Self.signature(of: paths) } } }
    private var seen: [[Int]]
    private var pending: [[Int]]?
    private var watch: TimerWatch?

    init(loop: EventLoop, paths: [String], changed: @escaping () -> Void) {
        (self.paths, seen) = (paths, Self.signature(of: paths))
        watch = loop.schedule(after: Self.interval, repeating: Self.interval, tolerance: Self.interval) { [unowned self] in
            look(changed)
        }
    }

    /// Whether they are as they were when they were read last.
    var areUnchanged: Bool { Self.signature(of: paths) == seen }

    /// What is there now is read, for whatever reason: it is no news.
    func remember() { (seen, pending) = (Self.signature(of: paths), nil) }

    /// A change counts once it has held still for one look: half a file is no file.
    private func look(_ changed: () -> Void) {
        let now = Self.signature(of: paths)
        defer { pending = now == seen ? nil : now }
        guard now != seen, now == pending else { return }
        seen = now
        changed()
    }

    /// Differs where one of them has been replaced.
    static func signature(of paths: [String]) -> [[Int]] {
        paths.map { path in
            var status = stat()
            guard unsafe stat(path, &status) == 0 else { return [] }
            return Self.signature(of: status)
        }
    }

    /// Numbers of devices and files are any 64 bits: GlusterFS, mergerfs and others have hashes there.
    static func signature(of status: stat) -> [Int] {
        [
            Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino), Int(status.st_size),
            status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
        ]
    }

    private static let interval: Duration = .seconds(1)
}
