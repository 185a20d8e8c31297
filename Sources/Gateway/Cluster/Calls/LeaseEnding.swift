import Admission
import Refusals

/// Why a lease has to end, as it travels: the number of a refusal and its words.
struct LeaseEnding: Hashable, Sendable {
    var code: Int
    var words: String
}

extension LeaseEnding {
    init(_ refusal: Refusal) { self.init(code: refusal.code.number, words: refusal.sentence) }
}

extension LeaseEnd {
    init(_ ending: LeaseEnding) {
        self = .disconnected(number: ending.code, sentence: ending.words.isEmpty ? Self.surplus : ending.words)
    }

    /// Without words it is the surplus that a renewal found.
    private static let surplus =
        "The stage has more publishers than it may have, which came to light after a failover: the newest had to go."
}
