/// What is known of a recording, wherever it stands: a line in the journal, then the book, then what other nodes are told.
/// Confined to the writer's thread.
final class Chronicle {
    private(set) var book: RecordingBook
    private let journal: Journal
    /// Nil for a recording that no other node goes on with.
    var shared: SharedJournal?

    /// Begins the chronicle of a recording.
    /// - Parameter former: what another node of the cluster has stored of it, by the register.
    init(
        _ header: RecordingHeader, continuing former: [JournalEntry] = [], in folder: SpoolFolder,
        _ register: (any RecordingRegister)?
    ) throws(SpoolError) {
        journal = try Journal(in: folder.path)
        (book, shared) = (RecordingBook(header), SharedJournal(header, register))
        try journal.append(.began(header))
        if former.isEmpty { shared?.begin() }
        for entry in former.dropFirst() {
            try journal.append(entry)
            book.apply(entry)
        }
    }

    /// Goes on with what a former process left in a folder.
    /// - Returns: nil for a folder without a recording, or with a closed one, and for one that is gone.
    /// - Throws: `SpoolError`; EWOULDBLOCK while another process has it.
    init?(recovering folder: SpoolFolder, _ register: (any RecordingRegister)?) throws(SpoolError) {
        // The process that had it may have closed it meanwhile.
        guard SpoolFile.byteCount(of: folder.path) != nil else { return nil }
        journal = try Journal(in: folder.path)
        guard let book = RecordingBook(replaying: try journal.recover()), !book.isClosed else { return nil }
        (self.book, shared) = (book, SharedJournal(book.header, register))
    }

    /// - Throws: `SpoolError` where the disk has no room for the line; nobody knows of it then.
    func note(_ entry: JournalEntry) throws(SpoolError) {
        try journal.append(entry)
        noteUnwritten(entry)
    }

    /// Notes what is so, whether or not the disk has room for the line.
    func noteUnwritten(_ entry: JournalEntry) {
        book.apply(entry)
        shared?.note(entry, in: book)
    }

    /// Nothing more is recorded. The disk may refuse this too: the book says it at least until the process ends.
    func fail(_ reason: String) {
        for entry in [JournalEntry.segmentEnded, .failed(reason)] {
            try? journal.append(entry)
            noteUnwritten(entry)
        }
        // Like any segment's end, before its bucket has it and its file goes.
        try? synchronise()
    }

    /// What was noted is on disk.
    func synchronise() throws(SpoolError) { try journal.synchronise() }
}
