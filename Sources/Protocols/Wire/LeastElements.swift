extension Sequence {
    /// The elements that would come first if all were sorted, in that order.
    ///
    /// For few of many: of a million elements all but the least are looked at once, where sorting takes seconds.
    @inlinable
    public func least(_ count: Int, by comesFirst: (Element, Element) -> Bool) -> [Element] {
        var least: [Element] = []
        for element in self {
            if least.count == count {
                guard let last = least.last, comesFirst(element, last) else { continue }
                least.removeLast()
            }
            var (low, high) = (0, least.count)
            while low < high {
                let middle = (low + high) / 2
                if comesFirst(element, least[middle]) { high = middle } else { low = middle + 1 }
            }
            least.insert(element, at: low)
        }
        return least
    }
}
