import Settings
import Wire

/// The faults found so far, when to tell them, and how often each was told.
struct FoundFaults {
    private struct Entry {
        var fault: ContractFault
        var action: ContractAction
        var foundAt: MonotonicTime
        var count = 1
        var warnedAt: MonotonicTime?
        /// Nobody has found it since it was judged anew.
        var isMended = false
    }

    /// At most one for each kind of fault.
    private var entries: [Entry] = []
    /// When the faults that wait for more are told, by arrival; nil while none waits.
    private(set) var deadline: MonotonicTime?
    /// The same by media time of the video: the end of the first group of pictures, one second at most.
    private(set) var mediaDeadline: Int64?
    private(set) var waitingSince: Int64?

    /// Media that stalls does not hold a verdict back for longer.
    private static let maximumWait = Duration.seconds(2)
    private static let maximumMediaWait: Int64 = 90_000
    private static let warningInterval = Duration.seconds(60)

    /// Notes a fault; answers whether it is worth a warning now.
    mutating func note(_ fault: ContractFault, action: ContractAction, at now: MonotonicTime) -> Bool {
        let index: Int
        if let known = entries.firstIndex(where: { $0.fault.isSameKind(as: fault) }) {
            index = known
            (entries[known].fault, entries[known].action, entries[known].foundAt) = (fault, action, now)
            entries[known].count += 1
            entries[known].isMended = false
        } else {
            index = entries.count
            entries.append(Entry(fault: fault, action: action, foundAt: now))
        }
        guard action == .warn else { return false }
        if let last = entries[index].warnedAt, now - last < Self.warningInterval { return false }
        entries[index].warnedAt = now
        return true
    }

    /// How often a fault was found since it was last told.
    mutating func takeCount(of fault: ContractFault) -> Int {
        guard let index = entries.firstIndex(where: { $0.fault.isSameKind(as: fault) }) else { return 0 }
        defer { entries[index].count = 0 }
        return entries[index].count
    }

    /// Lets the verdict wait for the rest of the group of pictures.
    mutating func wait(from mediaTime: Int64?, at now: MonotonicTime) {
        guard deadline == nil else { return }
        deadline = now + Self.maximumWait
        waitingSince = mediaTime
        mediaDeadline = mediaTime.map { $0 + Self.maximumMediaWait }
    }

    /// The first picture has come: the wait is for its group.
    mutating func restartWaiting(from mediaTime: Int64) {
        (waitingSince, mediaDeadline) = (mediaTime, mediaTime + Self.maximumMediaWait)
    }

    /// What the sentence lists: grounds to disconnect by precedence, then what was warned about in the last minute.
    func listed(at now: MonotonicTime) -> [ContractFault] {
        let listed = entries.filter { $0.action == .disconnect || now - $0.foundAt <= Self.warningInterval }
        return listed.sorted {
            ($0.action == .disconnect ? 0 : 1, $0.fault.precedence) < ($1.action == .disconnect ? 0 : 1, $1.fault.precedence)
        }.map(\.fault)
    }

    /// What these rules look at is judged anew: faults that are still there are noted again.
    mutating func judgedAnew(_ rules: [ContractRule]) {
        for index in entries.indices where rules.contains(entries[index].fault.rule) { entries[index].isMended = true }
    }

    /// What is so now, by precedence.
    func present(at now: MonotonicTime) -> [ContractFault] {
        let present = entries.filter { entry in
            if entry.action == .disconnect { return true }
            return !entry.isMended && (entry.fault.isLasting || now - entry.foundAt <= Self.warningInterval)
        }
        return present.map(\.fault).sorted { $0.precedence < $1.precedence }
    }

    /// A rule was switched off or its limit moved: what was found under the old one no longer counts.
    mutating func forget() { self = FoundFaults() }
}

extension ContractFault {
    /// The same case, whatever was measured.
    fileprivate func isSameKind(as other: ContractFault) -> Bool {
        switch (self, other) {
        case (.missingVideo, .missingVideo), (.missingAudio, .missingAudio), (.sliceGroups, .sliceGroups),
            (.arbitrarySliceOrder, .arbitrarySliceOrder), (.redundantPictures, .redundantPictures), (.profile, .profile),
            (.videoCodec, .videoCodec), (.interlaced, .interlaced):
            true
        default:
            rule == other.rule && ![.videoProfile, .videoCodec, .tracks].contains(rule)
        }
    }
}
