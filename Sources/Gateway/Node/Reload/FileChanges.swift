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

    /// A change counts once it has held still for one look: half a file is no file.
    private func look(_ changed: () -> Void) {
        let now = Self.signature(of: paths)
        defer { pending = now == seen ? nil : now }
        guard now != seen, now == pending else { return }
        seen = now
        changed()
    }

    private static func signature(of paths: [String]) -> [[Int]] {
        paths.map { path in
            var status = stat()
            guard stat(path, &status) == 0 else { return [] }
            return [
                Int(status.st_dev), Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
            ]
        }
    }

    private static let interval: Duration = .seconds(1)
}
