/// Finding what somebody meant to write.
enum Suggestion {
    /// The candidate that begins with `word`, or the nearest one if it is near enough that a slip of the finger explains it.
    static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        let candidates = candidates.sorted()
        if let longer = candidates.first(where: { $0.hasPrefix(word + ".") }) { return longer }
        let lowered = Array(word.lowercased().utf8)
        let best = candidates.map { ($0, distance(lowered, Array($0.lowercased().utf8))) }.min { $0.1 < $1.1 }
        guard let (candidate, distance) = best, distance <= max(2, word.utf8.count / 3) else { return nil }
        return candidate
    }

    /// Letters to replace, add, leave out, or exchange with their neighbour (optimal string alignment).
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var rows = [[Int]](repeating: Array(0...right.count), count: left.count + 1)
        for i in left.indices {
            rows[i + 1][0] = i + 1
            for j in right.indices {
                let replaced = rows[i][j] + (left[i] == right[j] ? 0 : 1)
                rows[i + 1][j + 1] = min(replaced, rows[i][j + 1] + 1, rows[i + 1][j] + 1)
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    rows[i + 1][j + 1] = min(rows[i + 1][j + 1], rows[i - 1][j - 1] + 1)
                }
            }
        }
        return rows[left.count][right.count]
    }
}
