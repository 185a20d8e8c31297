public import Admission
import DataDirectory
public import EventLoop
import GatewayLogging
import Glibc
import Wire

/// `DIR/sdp/{stageId}/{participantId}.sdp`: what receivers read that cannot be asked. Mode 0600, never half a file.
///
/// `DIR/sdp/{participantId}.sdp` is a link to it, for people and scripts. A participant's id is its own on its stage alone: of
/// two stages that have the same one, the first has the link.
public struct DescriptionFiles: Sendable {
    private let directory: String

    /// - Parameter directory: exists, mode 0700.
    public init(directory: String) { self.directory = directory }

    /// Nil for names that are not a stage's and a participant's: letters, digits, `-` and `_`, at most 64, none missing.
    public func path(of participant: ParticipantKey) -> String? {
        guard Self.isName(participant.stageID), Self.isName(participant.participantID) else { return nil }
        return "\(directory)/\(participant.stageID)/\(participant.participantID).sdp"
    }

    /// The link's path; nil for what is no participant's id.
    public func path(ofFirst participantID: String) -> String? {
        Self.isName(participantID) ? "\(directory)/\(participantID).sdp" : nil
    }

    /// Blocks while the disk is busy: not for a media loop. Nothing of it need outlive the machine: a publish writes its
    /// description anew, and a start those of all ingest configurations.
    /// - Returns: false when it could not be written.
    @discardableResult
    public func write(_ sdp: String, for participant: ParticipantKey) -> Bool {
        guard let path = path(of: participant), let link = self.path(ofFirst: participant.participantID) else { return false }
        unsafe mkdir("\(directory)/\(participant.stageID)", 0o700)
        guard (try? AtomicFile.exchange(Array(sdp.utf8), at: path)) != nil else { return false }
        Self.lead(link, to: Self.target(of: participant))
        return true
    }

    /// Removes the description, and the link that leads to it.
    public func remove(_ participant: ParticipantKey) {
        guard let path = path(of: participant), let link = self.path(ofFirst: participant.participantID) else { return }
        unsafe unlink(path)
        var target = [CChar](repeating: 0, count: Self.maximumTargetLength)
        let count = unsafe readlink(link, &target, Self.maximumTargetLength)
        guard count > 0, Self.target(of: participant).utf8CString.dropLast().elementsEqual(target[..<count]) else { return }
        unsafe unlink(link)
    }

    /// To where its link leads, from the folder of links.
    private static func target(of participant: ParticipantKey) -> String {
        "\(participant.stageID)/\(participant.participantID).sdp"
    }

    /// The first participant of that id keeps the link. Earlier versions wrote the description itself there: it is replaced, as
    /// it would never be renewed.
    private static func lead(_ link: String, to target: String) {
        var status = stat()
        guard unsafe symlink(target, link) != 0, unsafe lstat(link, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return
        }
        let made = link + ".link"
        unsafe unlink(made)
        if unsafe symlink(target, made) == 0 { unsafe rename(made, link) }
    }

    private static func isName(_ text: String) -> Bool {
        1...64 ~= text.utf8.count && text.utf8.allSatisfy { nameBytes.contains($0) }
    }

    /// Two names and what is between them and behind.
    private static let maximumTargetLength = 256
    private static let nameBytes = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}

/// Writes session descriptions on a thread of its own, because a disk may be slow and a media loop may not.
///
/// Of the descriptions of one participant that wait, the newest is written.
public final class DescriptionWriter: Sendable {
    /// Nil for one to remove.
    private let waiting = Lock<[ParticipantKey: String?]>([:])
    private let sender: MailboxSender<Void>

    /// - Parameters:
    ///   - directory: exists, mode 0700.
    ///   - retryInterval: after which what the disk did not take is tried again.
    /// - Throws: when the system gives no more threads or descriptors.
    public init(directory: String, retryInterval: Duration = .seconds(10)) throws(SystemError) {
        let files = DescriptionFiles(directory: directory)
        (_, sender) = try WorkerThread.startServing(name: "descriptions") { [waiting] () throws(SystemError) in
            let thread = try DescriptionThread(files, retryInterval, waiting)
            return (thread.sender, thread.run)
        }
    }

    /// Takes a description to be written; never waits for the disk.
    public var write: @Sendable (ParticipantKey, String) -> Void { { [self] in wait(with: $1, of: $0) } }

    /// Takes a participant whose description is to be removed; never waits for the disk.
    public var forget: @Sendable (ParticipantKey) -> Void { { [self] in wait(with: nil, of: $0) } }

    private func wait(with sdp: String?, of participant: ParticipantKey) {
        let isFirst = waiting.withLock { waiting in
            defer { waiting.updateValue(sdp, forKey: participant) }
            return waiting.isEmpty
        }
        if isFirst { sender.send(()) }
    }
}

/// Confined to its thread.
private final class DescriptionThread {
    private let files: DescriptionFiles
    private let retryInterval: Duration
    private let waiting: Lock<[ParticipantKey: String?]>
    private let loop: EventLoop
    private var mailbox: Mailbox<Void>?
    /// What the disk did not take: receivers of those that are live know nothing else.
    private var failed: [ParticipantKey: String] = [:]
    private var retry: TimerWatch?

    init(
        _ files: DescriptionFiles, _ retryInterval: Duration, _ waiting: Lock<[ParticipantKey: String?]>
    ) throws(SystemError) {
        (self.files, self.retryInterval, self.waiting) = (files, retryInterval, waiting)
        loop = try EventLoop()
        mailbox = try Mailbox(loop: loop) { [unowned self] _ in write() }
    }

    var sender: MailboxSender<Void> {
        mailbox!.sender  // set by init and kept
    }

    func run() { loop.run() }

    private func write() {
        let (former, new) = (failed, takeWaiting())
        failed = [:]
        // First: the link may be another one's from now on.
        for (participant, sdp) in new where sdp == nil { files.remove(participant) }
        let whole = former.filter { new[$0.key] == nil }.merging(new.compactMapValues { $0 }, uniquingKeysWith: { $1 })
        for (participant, sdp) in whole where !files.write(sdp, for: participant) {
            if former[participant] == nil {
                Log.event(.error, "description_not_written", ["participant": .string(participant.participantID)])
            }
            // What is no file's name never will be.
            if files.path(of: participant) != nil, failed.count < Self.maximumFailed { failed[participant] = sdp }
        }
        retry = failed.isEmpty ? nil : loop.schedule(after: retryInterval) { [unowned self] in write() }
        // Publishers come in groups: those of the next 10 ms share one wake-up.
        var time = timespec(tv_sec: 0, tv_nsec: 10_000_000)
        unsafe nanosleep(&time, nil)
    }

    private func takeWaiting() -> [ParticipantKey: String?] {
        waiting.withLock { waiting in
            defer { waiting = [:] }
            return waiting
        }
    }

    /// A disk may be full for a day of short publishes.
    private static let maximumFailed = 1_024
}
