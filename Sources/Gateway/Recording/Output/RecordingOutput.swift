import ObjectStorage

/// What of a recording is under way: one step after another, and of a step one object after another. A value.
struct RecordingOutput {
    private var machine = OutputMachine()
    private(set) var step: OutputMachine.Step?
    /// Those of the step that the bucket has not been given.
    private var objects: [StoredObject] = []
    /// Segments that were stored when the step was taken.
    private var storedCount = 0
    /// It refused something for good: nothing more is given to it by this output.
    private(set) var isBucketLost = false

    /// Others have heard the last of the recording.
    var isConcluded: Bool { isBucketLost || machine.hasConcluded }

    /// As `OutputMachine` says it.
    func next(_ book: RecordingBook, hasLatest: Bool, isOver: Bool) -> OutputMachine.Step? {
        machine.next(book, hasLatest: hasLatest, isOver: isOver)
    }

    /// - Parameters:
    ///   - objects: what the step stores, in this order; it may be nothing.
    ///   - storedCount: segments that are stored.
    mutating func begin(_ step: OutputMachine.Step, _ objects: [StoredObject], storedCount: Int) {
        (self.step, self.objects, self.storedCount) = (step, objects, storedCount)
    }

    /// The step's next object, when the one before it is stored; nil when all are.
    mutating func nextObject() -> StoredObject? { objects.isEmpty ? nil : objects.removeFirst() }

    /// All of the step is stored.
    /// - Returns: the step.
    mutating func finish() -> OutputMachine.Step? {
        guard let step else { return nil }
        machine.done(step, count: storedCount)
        self.step = nil
        return step
    }

    /// Nobody cares any more whether the step is stored.
    mutating func drop() { (step, objects) = (nil, []) }

    mutating func loseBucket() {
        drop()
        isBucketLost = true
    }
}
