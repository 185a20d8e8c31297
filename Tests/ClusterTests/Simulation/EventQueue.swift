/// What happens when, the earliest first; at one moment in the order in which it was put in.
struct EventQueue<Event> {
    /// Small, because it is moved often; the event itself stays where it is.
    private struct Entry {
        var time: Int64
        var number: Int
        var place: Int

        func isBefore(_ other: Entry) -> Bool { time != other.time ? time < other.time : number < other.number }
    }

    private var heap: [Entry] = []
    private var events: [Event?] = []
    private var free: [Int] = []
    private var count = 0

    mutating func put(_ event: Event, at time: Int64) {
        heap.append(Entry(time: time, number: count, place: store(event)))
        count += 1
        var index = heap.count - 1
        while index > 0, heap[index].isBefore(heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func next() -> (time: Int64, event: Event)? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        guard let event = events[first.place].take() else { return nil }
        free.append(first.place)
        return (first.time, event)
    }

    private mutating func store(_ event: Event) -> Int {
        guard let place = free.popLast() else {
            events.append(event)
            return events.count - 1
        }
        events[place] = event
        return place
    }

    private mutating func sink() {
        var index = 0
        while true {
            var least = index
            for child in (2 * index + 1)...(2 * index + 2) where child < heap.count && heap[child].isBefore(heap[least]) {
                least = child
            }
            if least == index { return }
            heap.swapAt(index, least)
            index = least
        }
    }
}
