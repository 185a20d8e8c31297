import Settings
import Wire

/// The faults found so far, when to tell them, and how often each was told.
struct FoundFaults {
    private struct Entry {
        var finding: ContractFinding
        var action: ContractAction
        var foundAt: MonotonicTime
        var count = 1
        var warnings = Allowance(1, then: FoundFaults.warningInterval)
        /// Nobody has found it since it was judged anew.
        var isMended = false

        /// A ground to disconnect stays one, but for pictures too small while a larger layer was still to come, and for keyframes
        /// that come sooner than x264 said.
        var isGround: Bool {
            action == .disconnect && !(isMended && [.minimumResolution, .keyframeInterval].contains(finding.fault.rule))
        }

        /// What is only suspected is listed beside other grounds, and is none by itself.
        var isFoundGround: Bool { isGround && count > 0 }

        var isWarning: Bool { action == .warn && !isMended }

        func isRecent(at now: MonotonicTime) -> Bool { now - foundAt <= FoundFaults.warningInterval }
    }

    /// A verdict that is put off for the rest of a group of pictures.
    private struct Wait {
        /// By arrival.
        var deadline: MonotonicTime
        /// The group began before this picture, or with it; nil: it begins with the next one.
        var picture: (layer: UInt8, time: Int64)?
    }

    /// At most one for each kind of fault and layer.
    private var entries: [Entry] = []
    private var wait: Wait?

    /// Media that stalls does not hold a verdict back for longer.
    private static let maximumWait = Duration.seconds(2)
    private static let maximumMediaWait: Int64 = 90_000
    private static let warningInterval = Duration.seconds(60)

    /// Notes a fault; answers whether it is worth a warning now.
    mutating func note(_ finding: ContractFinding, action: ContractAction, at now: MonotonicTime) -> Bool {
        let index: Int
        if let known = self.index(of: finding) {
            index = known
            (entries[known].finding, entries[known].action, entries[known].foundAt) = (finding, action, now)
            entries[known].count += 1
            entries[known].isMended = false
        } else {
            index = entries.count
            entries.append(Entry(finding: finding, action: action, foundAt: now))
        }
        return action == .warn && entries[index].warnings.take(at: now)
    }

    /// Notes what is not found yet.
    mutating func suspect(_ finding: ContractFinding, action: ContractAction, at now: MonotonicTime) {
        guard index(of: finding) == nil else { return }
        entries.append(Entry(finding: finding, action: action, foundAt: now, count: 0))
    }

    /// How often a fault was found since it was last told.
    mutating func takeCount(of finding: ContractFinding) -> Int {
        guard let index = index(of: finding) else { return 0 }
        defer { entries[index].count = 0 }
        return entries[index].count
    }

    /// The fault with what is alike in other layers: they are warned of together.
    func warned(alike finding: ContractFinding, at now: MonotonicTime) -> [ContractFinding] {
        entries.filter {
            $0.isWarning && $0.isRecent(at: now) && $0.finding.fault.isSameKind(as: finding.fault)
        }.map(\.finding)
    }

    /// What the sentence lists: grounds to disconnect by precedence, then what was warned about in the last minute. Empty where
    /// there is no ground.
    func verdict(at now: MonotonicTime) -> [ContractFinding] {
        guard entries.contains(where: \.isFoundGround) else { return [] }
        let listed = entries.filter { $0.isGround || $0.isWarning && $0.isRecent(at: now) }
        return listed.sorted {
            ($0.isGround ? 0 : 1, $0.finding.fault.precedence) < ($1.isGround ? 0 : 1, $1.finding.fault.precedence)
        }.map(\.finding)
    }

    /// What these rules look at is judged anew: faults that are still there are noted again.
    /// - Parameter layer: nil for all of them.
    mutating func judgedAnew(_ rules: [ContractRule], of layer: UInt8?) {
        for index in entries.indices where rules.contains(entries[index].finding.fault.rule) {
            let other = entries[index].finding.layer
            if layer == nil || other == nil || other == layer { entries[index].isMended = true }
        }
    }

    /// The faults that the stream has now, by precedence.
    func present(at now: MonotonicTime) -> [ContractFinding] {
        let present = entries.filter { entry in
            entry.isFoundGround || entry.isWarning && (entry.finding.fault.isLasting || entry.isRecent(at: now))
        }
        return present.map(\.finding).sorted { $0.fault.precedence < $1.fault.precedence }
    }

    /// A rule was switched off or its limit moved: what was found under the old one no longer counts.
    mutating func forget() { self = FoundFaults() }

    private func index(of finding: ContractFinding) -> Int? {
        entries.firstIndex { $0.finding.layer == finding.layer && $0.finding.fault.isSameKind(as: finding.fault) }
    }
}

// MARK: - Waiting

extension FoundFaults {
    /// When the faults that wait for more are told, by arrival; nil while none waits.
    var deadline: MonotonicTime? { wait?.deadline }

    /// Lets the verdict wait for the rest of a group of pictures.
    /// - Parameter picture: media time of the layer's picture at hand.
    mutating func wait(from picture: (layer: UInt8, time: Int64)?, at now: MonotonicTime) {
        if wait == nil { wait = Wait(deadline: now + Self.maximumWait, picture: picture) }
    }

    /// A picture begins: whether the group that was waited for, or a second of it, has passed.
    mutating func hasWaited(until mediaTime: Int64, of layer: UInt8, isIDR: Bool) -> Bool {
        guard let since = wait?.picture else {
            // What was found is no picture's: wait for the group of this one.
            wait?.picture = (layer, mediaTime)
            return false
        }
        guard layer == since.layer else { return false }
        return mediaTime >= since.time + Self.maximumMediaWait || mediaTime < since.time || (isIDR && mediaTime > since.time)
    }

    /// What was waited for has mended itself.
    mutating func stopWaiting() { wait = nil }
}

extension ContractFault {
    /// The same case, whatever was measured.
    fileprivate func isSameKind(as other: ContractFault) -> Bool {
        switch (self, other) {
        case (.missingVideo, .missingVideo), (.missingAudio, .missingAudio), (.undescribedVideo, .undescribedVideo),
            (.undescribedAudio, .undescribedAudio), (.sliceGroups, .sliceGroups),
            (.arbitrarySliceOrder, .arbitrarySliceOrder), (.redundantPictures, .redundantPictures), (.profile, .profile),
            (.unjudgedPictures, .unjudgedPictures), (.videoCodec, .videoCodec), (.interlaced, .interlaced):
            true
        default:
            rule == other.rule && ![.videoProfile, .videoCodec, .tracks].contains(rule)
        }
    }
}
