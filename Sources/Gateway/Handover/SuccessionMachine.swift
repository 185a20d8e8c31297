public import Store

/// The successor's steps as a value: says what is asked next, and judges what the predecessor (`HandoverMachine`) answers.
/// `Succession` carries it over the socket.
public struct SuccessionMachine: Sendable {
    /// What the predecessor tells of before its successor opens the store.
    public struct Inventory: Equatable, Sendable {
        public var living: Set<LivingParticipant> = []
        public var reservations: [PortReservation] = []
    }

    private enum State: Equatable {
        /// We have not said yet who we are.
        case new
        case awaitingOffer
        case awaitingSockets(missing: Int)
        /// Every socket is there, and the predecessor serves.
        case offered
        /// The predecessor lets go of the store.
        case preparing
        case prepared
        /// The predecessor tells what it has, and stops accepting and reading.
        case takingPlace
        case inPlace
    }

    static let maximumDescriptors = 4_096

    private var state = State.new
    private(set) var offer: HandoverOffer?
    private(set) var inventory = Inventory()

    /// Whether what was asked last is not answered yet.
    var isWaiting: Bool {
        switch state {
        case .awaitingOffer, .awaitingSockets, .preparing, .takingPlace: true
        case .new, .offered, .prepared, .inPlace: false
        }
    }

    // MARK: - What we ask, in this order

    mutating func greet(process: Int32) -> HandoverMessage {
        precondition(state == .new, "who we are is said first")
        state = .awaitingOffer
        return .hello(version: HandoverMessage.version, process: process, takesPlacements: true)
    }

    mutating func prepare() -> HandoverMessage {
        precondition(state == .offered, "the store is asked for once all sockets are there")
        state = .preparing
        return .prepare
    }

    mutating func takePlace() -> HandoverMessage {
        precondition(state == .prepared, "the place is taken with the store")
        state = .takingPlace
        return .ready
    }

    // MARK: - What is answered

    /// - Parameter descriptors: how many came with it.
    /// - Returns: what whoever takes the place has to know; nil when it is only part of the conversation.
    mutating func received(_ message: HandoverMessage, descriptors: Int) throws(HandoverError) -> HandoverMessage? {
        switch (state, message) {
        case (_, .refused(let reason)): throw .refused(reason)
        case (.awaitingOffer, .offer(let offer)): try take(offer)
        case (.awaitingSockets(let missing), .sockets(let roles)):
            guard roles.count == descriptors, !roles.isEmpty else { throw .unexpected }
            state = roles.count < missing ? .awaitingSockets(missing: missing - roles.count) : .offered
        case (.preparing, .living(let participants)): inventory.living.formUnion(participants)
        case (.preparing, .reservation(let reservation)): inventory.reservations.append(reservation)
        case (.preparing, .prepared): state = .prepared
        case (.takingPlace, .yours): state = .inPlace
        case (.takingPlace, _): return message
        default: throw .unexpected
        }
        return nil
    }

    private mutating func take(_ offer: HandoverOffer) throws(HandoverError) {
        guard offer.generation < 64, (1...256).contains(offer.workers), offer.descriptors <= Self.maximumDescriptors else {
            throw .unexpected
        }
        self.offer = offer
        state = offer.descriptors > 0 ? .awaitingSockets(missing: offer.descriptors) : .offered
    }
}
