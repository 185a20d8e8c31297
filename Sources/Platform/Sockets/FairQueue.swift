import Wire

/// What waits, taken out in turns by the network it is for: a crowd from one address stands in its own way only. Within a network
/// the oldest goes first. Sans-IO.
struct FairQueue<Element> {
    private var waiting: [IPAddress: ArraySlice<Element>] = [:]
    /// Networks with something waiting, the next one first.
    private var turns: ArraySlice<IPAddress> = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element, from source: IPAddress) {
        let network = source.network
        if waiting[network] == nil { turns.append(network) }
        waiting[network, default: []].append(element)
        count += 1
    }

    /// The oldest of the network whose turn it is; then the other networks come first.
    mutating func popFirst() -> Element? {
        guard let network = turns.popFirst(), let element = waiting[network]?.popFirst() else { return nil }
        count -= 1
        if waiting[network]?.isEmpty == true { waiting[network] = nil } else { turns.append(network) }
        return element
    }
}
