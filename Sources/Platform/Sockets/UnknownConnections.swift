public import Wire

/// One worker's connections that have shown nothing yet, oldest first: where all workers have too many of them, by the counts of
/// `ConnectionAdmission`, the oldest makes way. A value.
public struct UnknownConnections<ID: Hashable> {
    public enum Answer: Equatable {
        /// With the one that has to go for it, where there is one.
        case admitted(displacing: ID?)
        case tooManyFromAddress
    }

    private struct Member {
        let number: UInt64
        let address: IPAddress
        /// What it has in unfinished messages.
        var byteCount = 0
    }

    private let admission: ConnectionAdmission
    private var members: [ID: Member] = [:]
    /// In the order of coming. The first is a member; of the others some have left, and may have come anew.
    private var line: ArraySlice<(id: ID, number: UInt64)> = []
    private var lastNumber: UInt64 = 0

    /// - Parameter admission: of all workers.
    public init(_ admission: ConnectionAdmission) { self.admission = admission }

    /// The one to end when some have to go; nil when there is none.
    public var oldest: ID? { line.first?.id }

    /// Counts one more under its peer's address.
    public mutating func admit(_ id: ID, from address: IPAddress) -> Answer {
        let answer = admission.admit(address)
        guard answer != .tooManyFromAddress else { return .tooManyFromAddress }
        // The newcomer cannot displace itself: it is not among them yet.
        let displaced = answer == .admittedOverLimit ? oldest : nil
        lastNumber += 1
        members[id] = Member(number: lastNumber, address: address)
        line.append((id, lastNumber))
        return .admitted(displacing: displaced)
    }

    /// - Parameter byteCount: what it keeps in unfinished messages now.
    /// - Returns: false when all together keep too much: the oldest should go.
    public mutating func keeps(_ byteCount: Int, by id: ID) -> Bool {
        guard let former = members[id]?.byteCount, former != byteCount else { return true }
        members[id]?.byteCount = byteCount
        return admission.keeps(byteCount - former)
    }

    /// It has shown what it is, or is gone; nothing happens when it is not among them.
    public mutating func leave(_ id: ID) {
        guard let member = members.removeValue(forKey: id) else { return }
        admission.leave(member.address, kept: member.byteCount)
        while let first = line.first, members[first.id]?.number != first.number { line.removeFirst() }
    }
}
