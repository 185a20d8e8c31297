import EventLoop
import GatewayLogging

/// The folders that former processes left in the spool, and when to try to take up each. Confined to the writer's thread.
///
/// A process whose place we take has its recordings until it ends, and a disk that is full may be emptied: a folder that could
/// not be taken up is tried again.
final class Recovery {
    private let loop: EventLoop
    private let takeUp: (String) throws(SpoolError) -> Void
    private let then: () -> Void
    /// Those that a process before us still has.
    private var foreignFolders: [String] = []
    /// Those that the disk did not let us take up.
    private var refusedFolders: [String] = []
    /// Those of them that were logged.
    private var toldFolders: Set<String> = []
    private var foreignTimer: TimerWatch?
    private var refusedTimer: TimerWatch?

    /// - Parameters:
    ///   - takeUp: goes on with what lies in a folder, or removes it; throws with `isHeld` while another process has it.
    ///   - then: called when a turn is over, whatever came of it.
    init(loop: EventLoop, takeUp: @escaping (String) throws(SpoolError) -> Void, then: @escaping () -> Void) {
        (self.loop, self.takeUp, self.then) = (loop, takeUp, then)
    }

    func begin(_ folders: [String]) {
        foreignFolders = folders
        recoverForeign()
    }

    private func recoverForeign() {
        foreignFolders = foreignFolders.filter { !recover($0) }
        lookAgain()
    }

    /// A disk that refuses one again refuses the others: reading all of them would hold up the recordings whose uploads empty it.
    private func recoverRefused() {
        for folder in refusedFolders {
            refusedFolders.removeFirst()
            if !recover(folder) { foreignFolders.append(folder) }
            if refusedFolders.last == folder { break }
        }
        lookAgain()
    }

    private func lookAgain() {
        then()
        if foreignTimer == nil, !foreignFolders.isEmpty {
            foreignTimer = loop.schedule(after: Self.foreignInterval) { [unowned self] in
                foreignTimer = nil
                recoverForeign()
            }
        }
        if refusedTimer == nil, !refusedFolders.isEmpty {
            refusedTimer = loop.schedule(after: Self.refusedInterval) { [unowned self] in
                refusedTimer = nil
                recoverRefused()
            }
        }
    }

    /// - Returns: false while another process has it.
    private func recover(_ folder: String) -> Bool {
        do throws(SpoolError) {
            try takeUp(folder)
        } catch {
            if error.isHeld { return false }
            refusedFolders.append(folder)
            guard toldFolders.insert(folder).inserted else { return true }
            Log.event(.error, "recording_not_recovered", ["folder": .string(folder), "because": .string("\(error)")])
        }
        return true
    }

    /// Between two looks for folders that another process had: it may have ended.
    private static let foreignInterval = Duration.seconds(2)
    /// A recording of a day is read in half a second.
    private static let refusedInterval = Duration.seconds(10)
}
