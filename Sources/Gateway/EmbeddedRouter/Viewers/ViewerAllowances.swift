import Admission
import EventLoop

/// What all sessions of one viewer may take together, on whatever workers they are. Asked once a second by each session.
///
/// The older session goes first, so that shares settle: a younger one has what is left, and goes to a
/// lower layer or to sound alone.
final class ViewerAllowances: Sendable {
    private struct Session {
        var id: String
        /// Smoothed, so that one keyframe does not look like a need.
        var bitsPerSecond: Int
    }

    private let bitsPerSecond: Int
    /// Of each viewer its sessions, oldest first; there are no more than subscribers.
    private let sessions = Lock<[ParticipantKey: [Session]]>([:])

    init(bitsPerSecond: Int) { self.bitsPerSecond = bitsPerSecond }

    var viewerCount: Int { sessions.withLock { $0.count } }

    /// Notes what a session takes now.
    /// - Returns: what it may take, bits a second.
    func share(of viewer: ParticipantKey, session id: String, taking bits: Int) -> Int {
        sessions.withLock { sessions in
            var own = sessions[viewer] ?? []
            let place = own.firstIndex { $0.id == id } ?? own.endIndex
            if place == own.endIndex { own.append(Session(id: id, bitsPerSecond: bits)) }
            own[place].bitsPerSecond = (3 * own[place].bitsPerSecond + bits) / 4
            sessions[viewer] = own
            return max(Self.least, bitsPerSecond - own[..<place].reduce(0) { $0 + $1.bitsPerSecond })
        }
    }

    func leave(_ viewer: ParticipantKey, session id: String) {
        sessions.withLock { sessions in
            sessions[viewer]?.removeAll { $0.id == id }
            if sessions[viewer]?.isEmpty == true { sessions[viewer] = nil }
        }
    }

    /// What a session may always take: sound.
    static let least = 150_000
}
