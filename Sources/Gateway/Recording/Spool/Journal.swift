import Foundation

/// The file of a recording's journal: one line of JSON for each entry. Whoever holds it open has the recording.
final class Journal {
    private let file: SpoolFile
    private let encoder = JSONEncoder()
    private var byteCount: Int

    /// Opens the journal of a folder, or begins it.
    /// - Throws: `SpoolError`; its code is EWOULDBLOCK when another process has the recording.
    init(in folder: String) throws(SpoolError) {
        file = try SpoolFile(appendingTo: folder + "/journal")
        guard file.takeLock() else { throw SpoolError("take \(folder)", EWOULDBLOCK) }
        byteCount = SpoolFile.byteCount(of: file.path) ?? 0
    }

    /// Appends a line, or nothing: lines behind half a line would be lost with it.
    func append(_ entry: JournalEntry) throws(SpoolError) {
        guard let bytes = line(of: entry) else { return }
        do throws(SpoolError) {
            try file.append(bytes)
            byteCount += bytes.count
        } catch {
            try? SpoolFile.shorten(file.path, to: byteCount)
            throw error
        }
    }

    /// Texts and numbers always encode.
    private func line(of entry: JournalEntry) -> [UInt8]? {
        let text = entry.plainText.map { Array($0.utf8) } ?? (try? encoder.encode(entry)).map { Array($0) }
        return text.map { $0 + [UInt8(ascii: "\n")] }
    }

    /// What has been written is on disk.
    func synchronise() throws(SpoolError) { try file.synchronise() }

    /// All whole lines that we know. What a crash cut short is cut off with all behind it, and so is a later version's line that is not
    /// ignorable.
    func recover() throws(SpoolError) -> [JournalEntry] {
        // A publish of a day makes 8 MB, and recordings that encoders come back to last for many.
        guard let data = try? Data(contentsOf: URL(filePath: file.path), options: .mappedIfSafe) else {
            throw SpoolError("read \(file.path)", EIO)
        }
        let decoder = JSONDecoder()
        var entries: [JournalEntry] = []
        var end = data.startIndex
        while let newline = data[end...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = Data(data[end..<newline])
            if let entry = try? decoder.decode(JournalEntry.self, from: line) {
                if entry.isPlausible { entries.append(entry) }
            } else if (try? decoder.decode(LaterEntry.self, from: line))?.ignorable != true {
                break
            }
            end = newline + 1
        }
        byteCount = end - data.startIndex
        if end < data.endIndex { try SpoolFile.shorten(file.path, to: byteCount) }
        return entries
    }
}

/// A later version's line, which says whether those before it may pass over it: `{"word":{},"ignorable":true}`.
private struct LaterEntry: Decodable {
    var ignorable: Bool
}
